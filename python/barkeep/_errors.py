"""What barkeep refuses, and why; every message is the engine's and holds no record's value."""


class Error(Exception):
    """Why there is no result. Its words are those of the program ``barkeep``."""


class SpecError(Error, ValueError):
    """The model, the schema, the privacy or the sampler must be fixed."""


class DataError(Error, ValueError):
    """The frame or the file of records must be fixed, or the schema that describes it."""


class BudgetError(Error):
    """The budget does not pay for what was asked."""


class LedgerError(Error):
    """The custodian's ledger does not pay, or cannot be used."""


class CertificateError(Error):
    """A certificate does not hold what it says, or an audit proved more than is certified."""


class FileError(Error, OSError):
    """A file other than the records cannot be read or written, or a run cannot be continued."""


class InternalError(Error):
    """A defect of barkeep. The place is on the standard error; nothing else is said."""


class NotToBeTrusted(UserWarning):
    """The posterior does not hold what its intervals promise; the verdict says why."""


class Stopped(UserWarning):
    """A person stopped the run; what was drawn is valid, and ``fit.resume`` continues it."""
