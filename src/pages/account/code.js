/** A request as a program that sends it: pure, in strings of one line each. The key is never in it. */

/** @typedef {{ origin: string, path: string, body: Record<string, unknown> }} Asked */

/** @type {Readonly<Record<'curl' | 'node' | 'python', (asked: Asked) => string>>} */
export const writers = { curl: curlOf, node: nodeOf, python: pythonOf };

/**
 * Of a file only its kind: nobody copies megabytes.
 *
 * @param {Record<string, unknown>} body
 */
function short(body) {
  return JSON.stringify(
    body,
    (_name, value) =>
      typeof value === 'string' ? value.replace(/^(data:[\w/+.-]*;base64,).{64,}$/s, '$1…') : value,
    2,
  );
}

/** @param {Asked} asked */
function curlOf({ origin, path, body }) {
  const quoted = short(body).replaceAll("'", `'\\''`);
  return [
    `curl '${origin}${path}' \\`,
    `  -H "authorization: Bearer $KEY" \\`,
    `  -H 'content-type: application/json' \\`,
    `  -d '${quoted}'`,
  ].join('\n');
}

/** @param {Asked} asked */
function nodeOf({ origin, path, body }) {
  return [
    `const response = await fetch('${origin}${path}', {`,
    `  method: 'POST',`,
    `  headers: {`,
    '    authorization: `Bearer ${process.env.KEY}`,',
    `    'content-type': 'application/json',`,
    `  },`,
    `  body: JSON.stringify(${indented(short(body), '  ')}),`,
    `});`,
    `console.log(response.status, await response.json());`,
  ].join('\n');
}

/** @param {Asked} asked */
function pythonOf({ origin, path, body }) {
  return [
    `import json`,
    `import os`,
    `import urllib.request`,
    ``,
    `body = json.loads(r"""${short(body)}""")`,
    `request = urllib.request.Request(`,
    `    "${origin}${path}",`,
    `    data=json.dumps(body).encode(),`,
    `    headers={`,
    `        "authorization": "Bearer " + os.environ["KEY"],`,
    `        "content-type": "application/json",`,
    `    },`,
    `)`,
    `print(json.load(urllib.request.urlopen(request)))`,
  ].join('\n');
}

/**
 * @param {string} text
 * @param {string} by
 */
function indented(text, by) {
  return text.replaceAll('\n', `\n${by}`);
}
