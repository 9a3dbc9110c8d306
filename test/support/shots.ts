import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';

const quality = 62;

/** Saves the visible part of the page as WebP for human review. Does nothing unless SCREENSHOTS names a directory. */
export async function snap(page: Page, name: string): Promise<void> {
  const folder = process.env['SCREENSHOTS'];
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  const devtools = await page.context().newCDPSession(page);
  const { data } = await devtools.send('Page.captureScreenshot', { format: 'webp', quality });
  writeFileSync(join(folder, `${name}.webp`), Buffer.from(data, 'base64'));
  await devtools.detach();
}
