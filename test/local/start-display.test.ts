import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createStartDisplay } from '../../src/local/start-display.ts';

function displayOn(columns: number | undefined) {
  const written: string[] = [];
  const display = createStartDisplay({
    write: (text) => void written.push(text),
    print: (line) => void written.push(`${line}\n`),
    columns: columns === undefined ? undefined : () => columns,
    now: () => Date.now(),
  });
  return { display, written };
}

describe('what a start shows', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('is plain lines without a terminal', () => {
    const { display, written } = displayOn(undefined);
    display.report('Fetching …');
    display.report('Fetching … 5 s');
    vi.advanceTimersByTime(5_000);
    display.close();
    expect(written).toEqual(['Fetching …\n', 'Fetching … 5 s\n']);
  });

  it('is one updating line with the seconds on a terminal', () => {
    const { display, written } = displayOn(80);
    display.report('Fetching …');
    vi.advanceTimersByTime(2_000);
    display.report('Starting …');
    expect(written.join('')).not.toContain('\n');
    expect(written.every((text) => text.startsWith('\r\u001B[2K'))).toBe(true);
    expect(written.at(-2)).toContain('  2 s  Fetching …');
    expect(written.at(-1)).toContain('  2 s  Starting …');
  });

  it('never wraps, because a wrapped line could not be cleared', () => {
    const { display, written } = displayOn(20);
    display.report('x'.repeat(100));
    expect(written.at(-1)?.replace('\r\u001B[2K', '')).toHaveLength(19);
  });

  it('keeps important messages above the updating line', () => {
    const { display, written } = displayOn(80);
    display.report('Fetching …');
    display.report('Port 8080 is taken', 'lasting');
    expect(written.slice(-2)).toEqual([
      '\r\u001B[2KPort 8080 is taken\n',
      expect.stringContaining('Fetching …'),
    ]);
  });

  it('is plain lines after the start', () => {
    const { display, written } = displayOn(80);
    display.report('Fetching …');
    display.close();
    const before = written.length;
    vi.advanceTimersByTime(10_000);
    display.report('mongodb exited');
    expect(written.slice(before)).toEqual(['mongodb exited\n']);
  });
});
