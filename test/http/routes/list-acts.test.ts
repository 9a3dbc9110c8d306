import { expect, it } from 'vitest';
import { actionTable, operatorActions } from '../../../src/operating/acts.ts';
import { useHttpWorld } from '../../support/http-world.ts';

const world = useHttpWorld('route_list_acts');

it('every act of the table, with its fields and what it can cost', async () => {
  const { body, status } = await world.admin('GET', '/acts');
  expect(status).toBe(200);
  expect(body.data.map(({ name }: { name: string }) => name)).toEqual(operatorActions);
  for (const { name, title, fields } of body.data) {
    const row = actionTable[operatorActions.find((one) => one === name) ?? 'fail'];
    expect(title).toBe(row.title);
    const required = fields.map((field: { name: string; required: boolean }) => [field.name, field.required]);
    expect(Object.fromEntries(required)).toEqual(row.fields);
  }
  expect(body.data).toContainEqual({
    object: 'act',
    name: 'resubmit',
    title: 'Resubmit',
    description: actionTable.resubmit.description,
    fields: [{ name: 'channel', label: 'Channel (empty: the same)', type: 'text', required: false }],
    for_one: false,
    money: 'none',
    bills: 'twice',
    ends: false,
    needs_plan: true,
    confirmation: 'I checked the upstream: it has no job from the first submission.',
  });
});
