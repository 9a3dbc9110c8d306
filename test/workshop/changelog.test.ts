import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { readChanges, withRelease } from '../../workshop/changelog.ts';

const change = (kind: 'added' | 'breaking', text: string) => ({ file: 'a', kind, text });
const before = `# Changelog

## [Unreleased]

### Added

- The former.

### Fixed

- A fault.

## [0.1.0] - 2026-01-01
`;

it('a release contains the unreleased entries and each file of changes/, breaking ones first', () => {
  const changes = [change('added', 'The new.\nIts second line.'), change('breaking', 'The broken.')];
  const after = withRelease(before, { version: '0.2.0', date: '2026-12-01', changes });
  expect(after).toBe(`# Changelog

## [Unreleased]

## [0.2.0] - 2026-12-01

### Breaking

- The broken.

### Added

- The former.
- The new.
  Its second line.

### Fixed

- A fault.

## [0.1.0] - 2026-01-01
`);
  expect(
    withRelease(after, { version: '0.3.0', date: '2026-12-02', changes: [change('added', 'Later.')] }),
  ).toContain('## [Unreleased]\n\n## [0.3.0] - 2026-12-02\n\n### Added\n\n- Later.\n\n## [0.2.0]');
});

it('every file of changes/ is read, and fits into the changelog', () => {
  const changes = readChanges();
  const changelog = readFileSync(new URL('../../CHANGELOG.md', import.meta.url), 'utf8');
  const after = withRelease(changelog, { version: '99.0.0', date: '2026-12-01', changes });
  for (const { text } of changes) expect(after).toContain(text.split('\n')[0]);
});
