import { taskKinds } from '../../base/task-kind.ts';
import { z } from 'zod';
import { taskErrorCodes } from '../../errors/errors.ts';
import { failureClasses } from '../../errors/failure.ts';
import { taskStatuses } from '../../task/task.ts';

/**
 * Each enumeration that several fields share is one schema in the OpenAPI document, and one type in generated clients.
 */

export const failureClassSchema = z.enum(failureClasses).meta({
  id: 'FailureClass',
  description: 'The class of the upstream failure. The guide “Errors” explains each class.',
});
export const taskErrorCodeSchema = z.enum(taskErrorCodes).meta({ id: 'TaskErrorCode' });
export const taskStatusSchema = z.enum(taskStatuses).meta({ id: 'TaskStatus' });
export const taskKindSchema = z.enum(taskKinds).meta({ id: 'TaskKind' });
