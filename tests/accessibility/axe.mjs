// Looks at HTML pages with axe-core in a headless browser: light and dark, wide and narrow.
// Fails on a violation, a word on the console, or a page wider than its window.
//
//   npm install axe-core puppeteer-core
//   node tests/accessibility/axe.mjs BROWSER FOLDER-OF-NODE-MODULES PAGE...

import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';

const [browserPath, modules, ...pages] = process.argv.slice(2);
const load = createRequire(path.join(path.resolve(modules), 'node_modules', 'x.js'));
const { default: puppeteer } = await import(load.resolve('puppeteer-core'));
const axe = fs.readFileSync(load.resolve('axe-core/axe.min.js'), 'utf8');

const browser = await puppeteer.launch({ executablePath: browserPath, args: ['--no-sandbox', '--disable-gpu'] });
let faults = 0;
for (const file of pages)
  for (const scheme of ['light', 'dark'])
    for (const width of [1400, 400]) {
      const page = await browser.newPage();
      const said = [];
      page.on('console', (message) => said.push(message.text()));
      page.on('pageerror', (error) => said.push(String(error)));
      await page.setViewport({ width, height: 900 });
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
      await page.goto('file://' + path.resolve(file));
      const words = said.length;
      const beyond = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      // The page's own policy runs no script, axe's neither.
      await (await page.createCDPSession()).send('Page.setBypassCSP', { enabled: true });
      await page.reload();
      await page.evaluate(axe);
      const found = await page.evaluate(async () => {
        const result = await window.axe.run();
        const fault = (one) => `${one.id} (${one.impact}): ${one.nodes[0].html.slice(0, 120)}`;
        return { faults: result.violations.map(fault), passes: result.passes.length };
      });
      console.log(`${path.basename(file)} ${scheme} ${width}: ${found.passes} rules pass, ${found.faults.length} fail, ${words} console messages, ${beyond} px beyond the window`);
      found.faults.forEach((fault) => console.log('  ' + fault));
      faults += found.faults.length + words + (beyond > 0 ? 1 : 0);
      await page.close();
    }
await browser.close();
process.exit(faults > 0 ? 1 : 0);
