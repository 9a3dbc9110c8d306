import { z } from 'zod';
import { taskErrorCodes } from '../../errors/errors.ts';
import { failureClasses } from '../../errors/failure.ts';
import { taskStatuses } from '../../task/task.ts';

/** Words that several fields share: one schema of the document each, so that a generated client has one type. */

export const failureClassSchema = z.enum(failureClasses).meta({
  id: 'FailureClass',
  description: 'What the failure of an upstream was. The guide “Errors” explains each.',
});
export const taskErrorCodeSchema = z.enum(taskErrorCodes).meta({ id: 'TaskErrorCode' });
export const taskStatusSchema = z.enum(taskStatuses).meta({ id: 'TaskStatus' });
export const taskKindSchema = z.enum(['video', 'image']).meta({ id: 'TaskKind' });
