import { expect, it } from 'vitest';
import { readsOf } from '../../workshop/bench/console.ts';
import { useHttpWorld } from '../support/http-world.ts';

const world = useHttpWorld('workshop_console_reads');

it('every read that the bench of the console measures is one that its route accepts', async () => {
  const account = await world.newAccount();
  const id: string = (await account.create()).body.id;
  const reads = readsOf({ _id: id }, 1_000).map((path) => path.replace(/(?<=[?&])after=\w+/, `after=${id}`));
  const refused: string[] = [];
  for (const path of reads) {
    const { status, body } = path.startsWith('/admin/v1')
      ? await world.admin('GET', path.slice('/admin/v1'.length))
      : await account.call('GET', path);
    // Allow these errors, because only the benchmark has this account and a published configuration.
    const isUnknown =
      (/account-0/.test(path) && body.error?.code === 'account_not_found') || path === '/admin/v1/config';
    if (status !== 200 && !isUnknown) refused.push(`${path}: ${status} ${body.error?.message}`);
  }
  expect(refused).toEqual([]);
});
