import fc from 'fast-check';
import { expect, it } from 'vitest';
import { scrub } from '../../src/http-client/index.ts';
import { cpuMsOf } from '../support/cpu-time.ts';

it.each([
  ['The parameter `ratio` is not valid. Request id: 0217abc9', 'The parameter `ratio` is not valid. [id]'],
  ['request_id=4909100c-7b5a-9f92-bfe5-0a1b2c3d4e5f failed', '[id] failed'],
  ['Incorrect API key provided: sk-abcd********wxyz.', 'Incorrect API key provided: [key]'],
  ['header Authorization: Bearer abc.def.ghijk', 'header [key]'],
  ['see https://ark.example.com/path?X-Tos-Signature=aa&b=1, please', 'see [url] please'],
  ['upstream api.example-host.com:8443/v1 timed out', 'upstream [host] timed out'],
  ['connect 10.0.3.4:443 failed', 'connect [host] failed'],
  ['connect [fd00::12]:443 failed', 'connect [host] failed'],
  ['connect ::1 failed', 'connect [host] failed'],
  ['connect ::1:443 failed', 'connect [host] failed'],
  ['connect fe80::1%eth0 failed', 'connect [host] failed'],
  ['from 2001:db8:: to 2001:db8::7.', 'from [host] to [host].'],
  ['peer ::ffff:10.0.0.1 refused', 'peer [host] refused'],
  ['token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl expired', 'token [key] expired'],
  ['jwt=eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.', 'jwt=[key]'],
  ['File "/usr/lib/python3/site-packages/app.py", line 3', 'File "[path]", line 3'],
  ['open ~/keys/upstream.pem: denied', 'open [path]: denied'],
  ['cannot read /secrets.json', 'cannot read [path]'],
  ['open C:\\Users\\render\\key.txt failed', 'open [path] failed'],
  ['task cgt-20260514183217-t8rzv failed', 'task [id] failed'],
  ['image data:image/png;base64,iVBORw0KGgoAAAANSUhEUg== is bad', 'image [data] is bad'],
  ['body iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk is bad', 'body [data] is bad'],
  ['account 2100123456789 is overdue', 'account [id] is overdue'],
  ['two\nlines\tand\u0000more', 'two lines and more'],
])('%s', (text, expected) => {
  expect(scrub(text)).toBe(expected);
});

it.each([
  'InputTextSensitiveContentDetected.PolicyViolation',
  'The parameter `duration` must be between 4 and 15, got 20.',
  'InvalidParameter.UnsupportedParameter: resolution 1080p',
  'The size 1664*928 does not match, e.g. 1024x1024 (image 2 of 14).',
  'Use and/or, 16:9, 4/15 or 3:4; width/height in Foo::bar.',
  'The time was 12:30:45.',
  '内容可能包含敏感信息',
])('leaves alone: %s', (text) => {
  expect(scrub(text)).toBe(text);
});

it('is at most 500 characters and one line', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 3000, unit: 'binary' }), (text) => {
      const clean = scrub(text);
      expect(clean.length).toBeLessThanOrEqual(500);
      expect(clean).not.toMatch(/[\r\n]/);
    }),
  );
  expect(scrub('a word '.repeat(200))).toMatch(/…$/);
});

it('is quick on hostile text', () => {
  for (const text of ['a.'.repeat(50_000), '0'.repeat(100_000), 'a-'.repeat(50_000), '1:'.repeat(50_000)]) {
    // Linear work takes a few milliseconds. Quadratic work would take minutes.
    expect(cpuMsOf(() => scrub(text))).toBeLessThan(5_000);
  }
});
