import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';

/** A page of a test, which keeps what must not happen on it. */
export interface WatchedPage {
  readonly page: Page;
  /** Violations of the content security policy, errors on the console and uncaught ones, in order. */
  readonly faults: readonly string[];
  /** Requests to the gateway's API so far: `GET /admin/v1/tasks?…`. */
  readonly calls: readonly string[];
}

export interface TestBrowser {
  /** `isExpected`: errors on the console that the test brings about, such as a refused request. */
  open(options?: BrowserContextOptions & { isExpected?: (text: string) => boolean }): Promise<WatchedPage>;
  close(): Promise<void>;
}

/** Chromium of this machine; undefined: there is none, and `noBrowser` says so. */
export const browserPath = [
  process.env['CHROMIUM_PATH'] ?? '',
  ...['chromium', 'chromium-browser', 'google-chrome'].flatMap((name) =>
    (process.env['PATH'] ?? '').split(delimiter).map((directory) => join(directory, name)),
  ),
].find((path) => path !== '' && existsSync(path));

/** Why tests of pages are skipped; for their names. */
export const noBrowser =
  browserPath === undefined ? ' (skipped: no Chromium on PATH or at CHROMIUM_PATH)' : '';

/** Below the limit of a test, so that it says what it waited for; far above what a busy machine needs. */
const waitMs = 120_000;

export async function startBrowser(): Promise<TestBrowser> {
  const browser: Browser = await chromium.launch({
    ...(browserPath === undefined ? {} : { executablePath: browserPath }),
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  });
  return {
    async open({ isExpected = () => false, ...options } = {}) {
      const context = await browser.newContext(options);
      const faults: string[] = [];
      const calls: string[] = [];
      await context.exposeFunction('reportViolation', (text: string) => void faults.push(text));
      await context.addInitScript(reportViolations);
      const page = await context.newPage();
      page.setDefaultTimeout(waitMs);
      page.on('console', (message) => {
        const text = `console: ${message.text()} ${message.location().url}`;
        if (message.type() === 'error' && !isExpected(text)) faults.push(text);
      });
      page.on('pageerror', (error) => void faults.push(`uncaught: ${String(error)}`));
      page.on('request', (request) => {
        const { pathname, search } = new URL(request.url());
        if (/^\/(?:admin\/)?v1\//.test(pathname)) calls.push(`${request.method()} ${pathname}${search}`);
      });
      return { page, faults, calls };
    },
    close: () => browser.close(),
  };
}

/** Runs in the page, before its own scripts. */
const reportViolations = `
  addEventListener('securitypolicyviolation', (event) =>
    globalThis.reportViolation('violation: ' + event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sample));
`;

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface AxeViolation {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** What axe finds serious or critical on the page, as `rule: element` with what to change. */
export async function seriousFindings(page: Page): Promise<readonly string[]> {
  if (await page.evaluate('globalThis.axe === undefined')) await page.evaluate(axeSource);
  const violations = (await page.evaluate(
    'axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations)',
  )) as readonly AxeViolation[];
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary ?? ''}`),
    );
}

/** Pixels by which the page is wider than the window: it would have to be scrolled sideways. */
export async function overhang(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
}
