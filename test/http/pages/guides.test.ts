import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { webhookHeaders } from '../../../src/access/webhook-signature.ts';
import { renderGuide } from '../../../src/http/pages/guides.ts';

it.each([
  ['<script>alert(1)</script>', '&lt;script&gt;alert(1)&lt;/script&gt;'],
  ['a <img src=x onerror=alert(1)> b', 'a &lt;img src=x onerror=alert(1)&gt; b'],
  ['[x](javascript:alert(1))', '<p>x</p>'],
  ['[x](http://plain.example)', '<p>x</p>'],
  ['[x](https://a.example/?"><b>)', '<a href="https://a.example/?&quot;&gt;&lt;b&gt;">x</a>'],
  ['"https://a.example/b"', '<p>&quot;https://a.example/b&quot;</p>'],
  ['[x](configuration.md)', '<p>x</p>'],
  ['[x](errors.md#invalid_json)', '<a href="errors#invalid_json">x</a>'],
  ['![a<b>](https://a.example/b.png)', 'a&lt;b&gt;'],
  ['### invalid_json', '<h3 id="invalid_json">invalid_json</h3>'],
  ['```js\na < "b"\n```', '<pre tabindex="0"><code>a &lt; &quot;b&quot;</code></pre>'],
])('%j becomes %j', (text, html) => {
  expect(renderGuide(text)).toContain(html);
  expect(renderGuide(text)).not.toMatch(/<(?:script|img)|javascript:/);
});

describe('the programs of docs/callbacks.md', () => {
  const page = readFileSync(new URL('../../../docs/callbacks.md', import.meta.url), 'utf8');
  const programIn = (language: string) => page.split(`\`\`\`${language}\n`)[1]?.split('```')[0] ?? '';
  const directory = mkdtempSync(join(tmpdir(), 'callback-programs-'));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  const secrets = [randomBytes(24), randomBytes(24)].map((key) => `whsec_${key.toString('base64')}`);
  const [secret = '', former = ''] = secrets;
  const body = '{"id":"task_1","status":"succeeded"}';
  const at = 1_800_000_000_000;
  const headers = webhookHeaders({ id: 'msg_1', at, body, secrets });
  const now = at / 1000;
  const genuine = { headers, body, secret, now };
  const cases: readonly [boolean, typeof genuine][] = [
    [true, genuine],
    [true, { ...genuine, secret: former }],
    [true, { ...genuine, now: now + 299 }],
    [false, { ...genuine, now: now + 301 }],
    [false, { ...genuine, body: `${body} ` }],
    [false, { ...genuine, secret: `whsec_${randomBytes(24).toString('base64')}` }],
    [false, { ...genuine, headers: { ...headers, 'webhook-id': 'msg_2' } }],
    [false, { ...genuine, headers: { ...headers, 'webhook-timestamp': 'soon' } }],
    [false, { ...genuine, headers: { ...headers, 'webhook-signature': 'v1,' } }],
    [false, { ...genuine, headers: {} }],
  ];
  const expected = cases.map(([isGenuine]) => isGenuine);
  const input = JSON.stringify(cases.map(([, one]) => one));
  const run = (program: string, args: readonly string[]) =>
    JSON.parse(execFileSync(program, args, { cwd: directory, input, encoding: 'utf8' })) as unknown;

  it('node', () => {
    const call = `\nlet text = '';\nfor await (const part of process.stdin) text += part;
console.log(JSON.stringify(JSON.parse(text).map((one) => isGenuine(one.headers, Buffer.from(one.body), one.secret, one.now))));`;
    writeFileSync(join(directory, 'verify.mjs'), programIn('js') + call);
    expect(run(process.execPath, ['verify.mjs'])).toEqual(expected);
  });

  it.skipIf(!isThere('python3', '--version'))('python', () => {
    const call = `\nimport json, sys
print(json.dumps([is_genuine(one["headers"], one["body"].encode(), one["secret"], one["now"]) for one in json.load(sys.stdin)]))\n`;
    writeFileSync(join(directory, 'verify.py'), programIn('python') + call);
    expect(run('python3', ['verify.py'])).toEqual(expected);
  });

  it.skipIf(!isThere('go', 'version'))('go', () => {
    writeFileSync(
      join(directory, 'callback.go'),
      programIn('go').replace('package callback', 'package main'),
    );
    writeFileSync(join(directory, 'main.go'), goCall);
    writeFileSync(join(directory, 'go.mod'), 'module callback\n\ngo 1.20\n');
    expect(run('go', ['run', '.'])).toEqual(expected);
  });
});

const goCall = `package main

import (
	"encoding/json"
	"os"
	"time"
)

func main() {
	var cases []struct {
		Headers      map[string]string
		Body, Secret string
		Now          int64
	}
	if err := json.NewDecoder(os.Stdin).Decode(&cases); err != nil {
		panic(err)
	}
	answers := []bool{}
	for _, one := range cases {
		header := func(name string) string { return one.Headers[name] }
		answers = append(answers, IsGenuine(header, []byte(one.Body), one.Secret, time.Unix(one.Now, 0)))
	}
	if err := json.NewEncoder(os.Stdout).Encode(answers); err != nil {
		panic(err)
	}
}
`;

function isThere(program: string, argument: string): boolean {
  try {
    execFileSync(program, [argument], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
