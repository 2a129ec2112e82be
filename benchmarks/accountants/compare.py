"""Sets barkeep's accountant beside dp_accounting, prv_accountant and riskcal, in one run.

    pip install dp-accounting prv-accountant riskcal
    cargo build --release -p barkeep-accounting --example ask
    python3 benchmarks/accountants/compare.py [QUERIES] [--seed 7] [--ask target/release/examples/ask]

Random compositions of subsampled Gaussian mechanisms (Poisson batches, a record added or removed). Every accountant stays in its
process: barkeep's answers over a pipe and times itself without it. Times are processor times, ours the mean of several runs. Every
question is put to barkeep and at once to the peer: what else the machine does slows both. Peers run with the settings their
documentation shows, and the slowest of their answers beside ours are listed by name.
Prints the ratio of times (peer over barkeep) and of answers (peer over barkeep's upper end): median and worst. A ratio of answers
below 1 is a peer's answer within the bracket, or below its proved lower end. riskcal answers with the advantage, delta at epsilon 0.
"""

import json
import random
import statistics
import subprocess
import sys
import time


def questions(count, seed):
    random.seed(seed)
    for _ in range(count):
        yield {
            "ratio": round(10 ** random.uniform(-0.2, 1), 3),
            "rate": float(f"{10 ** random.uniform(-4, -1):.3g}"),
            "steps": round(10 ** random.uniform(1, 4.5)),
            "delta": float(f"{10 ** random.uniform(-8, -5):.2g}"),
        }


def barkeep(program, one, epsilon=None):
    """Epsilon at delta, or delta at this epsilon: at 0 it is the advantage."""
    cost = {
        "mechanism": {"gaussian": {"ratio": one["ratio"]}},
        "sampling": {"poisson": {"rate": one["rate"]}},
        "neighbours": "add-remove",
    }
    given = {"delta": one["delta"]} if epsilon is None else {"epsilon": epsilon}
    program.stdin.write(json.dumps({"step": [[cost, 1]], "steps": one["steps"], **given}) + "\n")
    program.stdin.flush()
    return json.loads(program.stdout.readline())


def dp_accounting():
    from dp_accounting import dp_event
    from dp_accounting.pld import pld_privacy_accountant

    def ask(one):
        event = dp_event.PoissonSampledDpEvent(one["rate"], dp_event.GaussianDpEvent(one["ratio"]))
        accountant = pld_privacy_accountant.PLDAccountant()
        return accountant.compose(event, one["steps"]).get_epsilon(one["delta"])

    return ask


def prv_accountant():
    from prv_accountant import Accountant

    def ask(one):
        accountant = Accountant(
            noise_multiplier=one["ratio"],
            sampling_probability=one["rate"],
            delta=one["delta"],
            eps_error=0.01,
            max_compositions=one["steps"],
        )
        return accountant.compute_epsilon(num_compositions=one["steps"])[2]

    return ask


def riskcal():
    """Its own measure is the advantage, epsilon's is (0, delta): both from its privacy-loss distribution."""
    from dp_accounting.pld import privacy_loss_distribution
    from riskcal.analysis import get_advantage_from_pld

    def ask(one):
        step = privacy_loss_distribution.from_gaussian_mechanism(one["ratio"], sampling_prob=one["rate"])
        return get_advantage_from_pld(step.self_compose(one["steps"]))

    return ask


def report(name, rows):
    """Rows of question, our answer and seconds, the peer's answer and seconds."""
    times = [peer / ours for _, _, ours, _, peer in rows]
    ratios = [peer / ours for _, ours, _, peer, _ in rows if ours > 0]
    print(f"{name} on {len(rows)} queries")
    print(f"  time, peer over barkeep:    median {statistics.median(times):.1f}, worst {min(times):.2f}")
    print(f"  answer, peer over barkeep:  median {statistics.median(ratios):.6f}, least {min(ratios):.6f}, most {max(ratios):.6f}")
    for time_ratio, row in sorted(zip(times, rows), key=lambda pair: pair[0]):
        if time_ratio < 1:
            print(f"  slower: {row[0]}, {1e3 * row[2]:.1f} ms against {1e3 * row[4]:.1f} ms")


def main():
    words = sys.argv[1:]
    path = words.pop(words.index("--ask") + 1) if "--ask" in words else "target/release/examples/ask"
    seed = int(words.pop(words.index("--seed") + 1)) if "--seed" in words else 7
    numbers = [word for word in words if word.isdigit()]
    asked = list(questions(int(numbers[0]) if numbers else 100, seed))
    program = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    ours = [barkeep(program, one) for one in asked]
    widths = [(one["upper"] - one["lower"]) / one["upper"] for one in ours if one["upper"] > 0]
    seconds = [one["seconds"] for one in ours]
    print(f"barkeep: median {1e3 * statistics.median(seconds):.2f} ms, worst {1e3 * max(seconds):.1f} ms;"
          f" brackets: median {statistics.median(widths):.1e} wide, worst {max(widths):.1e}", flush=True)
    for make in (dp_accounting, prv_accountant, riskcal):
        try:
            ask = make()
            ask(asked[0])
        except Exception as error:  # noqa: BLE001 - not installed, or not with this version of its parts
            print(f"{make.__name__}: skipped, {error}")
            continue
        rows, failed = [], 0
        for one in asked:
            answer = barkeep(program, one, 0.0 if make is riskcal else None)
            start = time.process_time()
            try:
                peer = float(ask(one))
            except Exception:  # noqa: BLE001 - a peer may refuse in any way
                failed += 1
                continue
            rows.append((one, answer["upper"], answer["seconds"], peer, time.process_time() - start))
        if rows:
            report(make.__name__, rows)
        if failed:
            print(f"  {failed} queries not answered")
        sys.stdout.flush()
    program.stdin.close()


if __name__ == "__main__":
    main()
