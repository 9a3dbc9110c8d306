import { json } from 'node:stream/consumers';
import Koa from 'koa';
import { Pool } from 'undici';

/**
 * The least that an image gateway can do in this stack: Koa parses the JSON, undici sends it on, the answer's bytes
 * go back. No key, no money. Arguments: port, the upstream's origin.
 */
const [port, upstream = ''] = process.argv.slice(2);
const pool = new Pool(upstream, { connections: 64 });
const koa = new Koa();
koa.use(async (context) => {
  const body = JSON.stringify(await json(context.req));
  const answer = await pool.request({
    path: context.path,
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer mock' },
    body,
  });
  context.status = answer.statusCode;
  context.type = 'application/json';
  context.body = Buffer.from(await answer.body.arrayBuffer());
});
koa.listen(Number(port), '127.0.0.1');
