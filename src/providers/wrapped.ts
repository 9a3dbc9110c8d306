import { defined } from '../base/defined.ts';
import type { GenerationRequest } from '../models/request.ts';
import type {
  OperationStatus,
  Provider,
  ProviderContext,
  SynchronousImageProvider,
  TaskProvider,
} from './provider.ts';

export interface Wrap {
  readonly tasks: <Request extends GenerationRequest>(part: TaskProvider<Request>) => TaskProvider<Request>;
  readonly images?: (part: SynchronousImageProvider) => SynchronousImageProvider;
}

export function wrapped(provider: Provider, { tasks, images = (part) => part }: Wrap): Provider {
  const { video, imageTask, image } = provider;
  return {
    ...provider,
    ...defined({
      video: video && tasks(video),
      imageTask: imageTask && tasks(imageTask),
      image: image && images(image),
    }),
  };
}

export function withStatuses<Request>(
  part: TaskProvider<Request>,
  change: (status: OperationStatus, context: ProviderContext) => OperationStatus,
): TaskProvider<Request> {
  const { status, list } = part;
  return {
    ...part,
    status: async (operation, context) => change(await status(operation, context), context),
    ...defined({
      list:
        list &&
        (async (...asked: Parameters<typeof list>) =>
          new Map([...(await list(...asked))].map(([id, job]) => [id, change(job, asked[1])]))),
    }),
  };
}
