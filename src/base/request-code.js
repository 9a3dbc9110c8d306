/**
 * Each writer returns a program that sends the request. Each string in the program fits on one line. The program reads
 * the API key from the environment variable KEY, and each `{name}` in `path` from the environment variable NAME.
 *
 * @typedef {'json' | 'text' | 'file'} AnswerKind
 * @typedef {{ origin: string, method: string, path: string, body?: Record<string, unknown> | undefined, hasKey?:
 * boolean, answer?: AnswerKind, isWhole?: boolean, }} Asked `hasKey` defaults to true and `answer` to `json`. `isWhole`
 * keeps large files, so that the program can be copied and run.
 */

/** @type {Readonly<Record<'curl' | 'typescript' | 'python', (asked: Asked) => string>>} */
export const writers = { curl: curlOf, typescript: typescriptOf, python: pythonOf };

export const languageNames = { curl: 'curl', typescript: 'TypeScript', python: 'Python' };

/**
 * Shortens a large file to its media type, because megabytes of base64 are unreadable.
 *
 * @param {Record<string, unknown>} body
 * @param {boolean} [isWhole]
 */
function textOf(body, isWhole) {
  return JSON.stringify(
    body,
    (_name, /** @type {unknown} */ value) =>
      typeof value === 'string' && isWhole !== true ? shortened(value) : value,
    2,
  );
}

/** @param {string} text */
function shortened(text) {
  return text.replace(/^(data:[\w/+.-]*;base64,).{1024,}$/s, '$1…');
}

/** @param {Asked} asked */
function curlOf({ origin, method, path, body, hasKey = true, answer = 'json', isWhole }) {
  const address = filledIn(`${origin}${path}`, (name) => `$${name}`);
  const isFilled = address !== `${origin}${path}`;
  return [
    `curl ${isFilled ? `"${address}"` : `'${address}'`}`,
    ...(method === (body === undefined ? 'GET' : 'POST') ? [] : [`-X ${method}`]),
    ...(hasKey ? [`-H "authorization: Bearer $KEY"`] : []),
    ...(answer === 'file' ? ['--location --output result'] : []),
    ...(body === undefined ? [] : [`-H 'content-type: application/json'`, dataOf(textOf(body, isWhole))]),
  ].join(' \\\n  ');
}

/**
 * The maximum length of an argument. Linux limits an argument to 128 KiB, and a character may take up to three bytes.
 */
const argumentCharactersMax = 40_000;

/**
 * Returns curl's option with the body. A long body becomes a here-document.
 *
 * @param {string} json
 */
function dataOf(json) {
  return json.length > argumentCharactersMax
    ? `--data-binary @- <<'END'\n${json}\nEND`
    : `-d '${json.replaceAll("'", `'\\''`)}'`;
}

/** @param {Asked} asked */
function typescriptOf({ origin, method, path, body, hasKey = true, answer = 'json', isWhole }) {
  const address = `${origin}${path}`;
  const filled = filledIn(address, (name) => `\${process.env.${name}}`);
  const headers = [
    ...(hasKey ? ['    authorization: `Bearer ${process.env.KEY}`,'] : []),
    ...(body === undefined ? [] : [`    'content-type': 'application/json',`]),
  ];
  const options = [
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    ...(headers.length === 0 ? [] : ['  headers: {', ...headers, '  },']),
    ...(body === undefined ? [] : [`  body: JSON.stringify(${indented(textOf(body, isWhole), '  ')}),`]),
  ];
  const quote = filled === address ? "'" : '`';
  return [
    ...(answer === 'file' ? [`import { writeFile } from 'node:fs/promises';`, ''] : []),
    `const response = await fetch(${quote}${filled}${quote}${options.length === 0 ? ');' : ', {'}`,
    ...(options.length === 0 ? [] : [...options, '});']),
    ...(answer === 'file'
      ? [`await writeFile('result', Buffer.from(await response.arrayBuffer()));`]
      : [`console.log(response.status, await response.${answer}());`]),
  ].join('\n');
}

/** @param {Asked} asked */
function pythonOf({ origin, method, path, body, hasKey = true, answer = 'json', isWhole }) {
  const address = `${origin}${path}`;
  const filled = filledIn(address, (name) => `{os.environ['${name}']}`);
  const headers = [
    ...(hasKey ? [`        "authorization": "Bearer " + os.environ["KEY"],`] : []),
    ...(body === undefined ? [] : [`        "content-type": "application/json",`]),
  ];
  return [
    ...(body === undefined && answer !== 'json' ? [] : ['import json']),
    ...(hasKey || filled !== address ? ['import os'] : []),
    `import urllib.request`,
    ``,
    ...(body === undefined ? [] : [`body = json.loads(r"""${textOf(body, isWhole)}""")`]),
    `request = urllib.request.Request(`,
    `    ${filled === address ? '' : 'f'}"${filled}",`,
    ...(method === (body === undefined ? 'GET' : 'POST') ? [] : [`    method="${method}",`]),
    ...(body === undefined ? [] : ['    data=json.dumps(body).encode(),']),
    ...(headers.length === 0 ? [] : ['    headers={', ...headers, '    },']),
    `)`,
    `with urllib.request.urlopen(request) as response:`,
    {
      json: '    print(json.load(response))',
      text: '    print(response.read().decode())',
      file: '    open("result", "wb").write(response.read())',
    }[answer],
  ].join('\n');
}

/**
 * @param {string} address
 * @param {(name: string) => string} variable
 */
function filledIn(address, variable) {
  return address.replaceAll(/\{(\w+)\}/g, (_, /** @type {string} */ name) => variable(name.toUpperCase()));
}

/**
 * @param {string} text
 * @param {string} by
 */
function indented(text, by) {
  return text.replaceAll('\n', `\n${by}`);
}
