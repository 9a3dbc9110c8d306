import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createRequire } from 'node:module';
import { chromium, type Browser, type BrowserContextOptions, type Locator, type Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { snap } from './shots.ts';

export interface WatchedPage {
  readonly page: Page;
  readonly faults: readonly string[];
  readonly calls: readonly string[];
}

export interface TestBrowser {
  /** The page closes after the test. `isExpected` matches console errors that the test provokes on purpose. */
  open(options?: BrowserContextOptions & { isExpected?: (text: string) => boolean }): Promise<WatchedPage>;
  close(): Promise<void>;
}

export const browserPath = [
  process.env['CHROMIUM_PATH'] ?? '',
  // Prefer headless shell, which uses half as much CPU time as full Chromium.
  ...['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'].flatMap((name) =>
    (process.env['PATH'] ?? '').split(delimiter).map((directory) => join(directory, name)),
  ),
].find((path) => path !== '' && existsSync(path));

/** Added to the names of page tests to explain why they are skipped. Empty if a browser is available. */
export const noBrowser =
  browserPath === undefined ? ' (skipped: no Chromium on PATH or at CHROMIUM_PATH)' : '';

/** Shorter than a test's time limit, so that a failure names the step that timed out. */
const waitMs = 120_000;

export async function startBrowser(): Promise<TestBrowser> {
  const browser: Browser = await chromium.launch({
    ...(browserPath === undefined ? {} : { executablePath: browserPath }),
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  });
  return {
    async open({ isExpected = () => false, ...options } = {}) {
      const context = await browser.newContext(options);
      onTestFinished(() => context.close());
      const faults: string[] = [];
      const calls: string[] = [];
      await context.exposeFunction('reportViolation', (text: string) => void faults.push(text));
      await context.addInitScript(reportViolations);
      const page = await context.newPage();
      page.setDefaultTimeout(waitMs);
      // Wait for loading to finish before every action. Content that arrives late shifts the layout, so a click could
      // miss.
      await page.addLocatorHandler(page.getByText('Loading…', { exact: true }).first(), () =>
        Promise.resolve(),
      );
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

const reportViolations = `
  addEventListener('securitypolicyviolation', (event) =>
    globalThis.reportViolation('violation: ' + event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sample));
`;

/** Keeps a page from polling, because timers of `ms` or longer never fire. */
export const withoutPolls = (ms: number): string => `{
  const { setTimeout: set } = globalThis;
  globalThis.setTimeout = (run, after, ...rest) => (after >= ${ms} ? 0 : set(run, after, ...rest));
}`;

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export const contrast: readonly string[] = ['color-contrast'];

interface AxeViolation {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/**
 * Returns axe's serious and critical findings as `rule: element`, each with a way to fix it. Runs every rule by
 * default.
 */
export async function seriousFindings(page: Page, runOnly?: readonly string[]): Promise<readonly string[]> {
  if (await page.evaluate('globalThis.axe === undefined')) await page.evaluate(axeSource);
  const options = JSON.stringify({ resultTypes: ['violations'], runOnly });
  const violations = (await page.evaluate(
    `axe.run(document, ${options}).then(({ violations }) => violations)`,
  )) as readonly AxeViolation[];
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary ?? ''}`),
    );
}

export async function overhang(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
}

export async function expectReadable(page: Page, name: string): Promise<void> {
  const wide = page.viewportSize() ?? { width: 1280, height: 900 };
  for (const colorScheme of ['light', 'dark'] as const) {
    const about = [name, colorScheme];
    await page.emulateMedia({ colorScheme });
    const findings = await seriousFindings(page, colorScheme === 'dark' ? contrast : undefined);
    expect([...about, findings, await overhang(page)]).toEqual([...about, [], 0]);
    await snap(page, `${name}-${colorScheme}`);
    await page.setViewportSize({ width: 360, height: 740 });
    expect([...about, await overhang(page)]).toEqual([...about, 0]);
    await snap(page, `${name}-${colorScheme}-narrow`);
    await page.setViewportSize(wide);
  }
  await page.emulateMedia({ colorScheme: 'light' });
}

export async function pressSearchKey(page: Page): Promise<void> {
  const isFocused = "document.activeElement?.id === 'find'";
  const timeout = 10_000;
  do await page.keyboard.press('/');
  while (
    !(await page.waitForFunction(isFocused, undefined, { timeout }).then(
      () => true,
      () => false,
    ))
  );
  // If the focus arrived late, the second key press was typed into the field, so clear it.
  await page.locator('#find').fill('');
}

export async function offered(input: Locator): Promise<readonly string[]> {
  return input.evaluate((node: any) => Array.from(node.list?.options ?? [], ({ value }: any) => value));
}
