import { z } from 'zod';
import { actionFieldNames, actionFields } from '../../operating/act-fields.ts';
import { actionTable, needsPlan, operatorActions } from '../../operating/acts.ts';
import { listSchema } from '../presenters/list.ts';
import { adminRoute, jsonReply, type Route } from '../route.ts';

export const actSchema = z
  .object({
    object: z.literal('act'),
    name: z.enum(operatorActions),
    title: z.string(),
    description: z.string(),
    fields: z.array(
      z.object({
        name: z.enum(actionFieldNames(actionFields)),
        label: z.string(),
        type: z.enum(['text', 'count', 'number']),
        required: z.boolean(),
      }),
    ),
    for_one: z.boolean().meta({
      description:
        'True if the fields are specific to one task, so the action cannot be applied to multiple tasks at once.',
    }),
    money: z.enum(['none', 'releases', 'by_facts', 'proposed', 'refunds']),
    bills: z.enum(['none', 'unpaid', 'twice']).meta({
      description:
        'Which job the upstream may bill without a matching charge: the task’s own (`unpaid`), a second one (`twice`) or `none`.',
    }),
    ends: z.boolean().meta({ description: 'True if the action makes the task fail.' }),
    needs_plan: z.boolean().meta({ description: 'True if the action needs the `plan` of its dry run.' }),
    confirmation: z.string().nullable().meta({
      description: 'The prerequisite that an operator must confirm before the action. Null if there is none.',
    }),
  })
  .meta({ id: 'Act' });

export function listActs(): Route {
  return adminRoute({
    operationId: 'listActs',
    access: 'read',
    summary: 'List the actions that operators can take on tasks',
    description:
      'The list is the same for all tasks. The situation of a task shows which actions are possible now.',
    method: 'get',
    paths: ['/admin/v1/acts'],
    input: z.object({}),
    success: { description: 'All actions.', schema: listSchema(actSchema) },
    handle: () => Promise.resolve(jsonReply({ object: 'list', data: operatorActions.map(presentAct) })),
  });
}

function presentAct(name: (typeof operatorActions)[number]): z.output<typeof actSchema> {
  const {
    title,
    description,
    fields,
    isForOne = false,
    money,
    bills,
    ends = false,
    confirmation = null,
  } = actionTable[name];
  return {
    object: 'act',
    name,
    title,
    description,
    fields: actionFieldNames(fields).map((field) => {
      const { label, type } = actionFields[field];
      return { name: field, label, type, required: fields[field] === true };
    }),
    for_one: isForOne,
    money,
    bills,
    ends,
    needs_plan: needsPlan(name),
    confirmation,
  };
}
