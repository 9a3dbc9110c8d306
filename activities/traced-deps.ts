import type { TaskSpans } from '../src/observability/task-spans.ts';
import type { ChannelActivityDeps, PostCallback } from './deps.ts';

/** Callbacks as spans that their receivers can continue: `traceparent` names the request itself. */
export function tracedPost(post: PostCallback, spans: TaskSpans | undefined): PostCallback {
  if (spans === undefined) return post;
  return (delivery, task) => {
    const attributes = {
      'http.request.method': 'POST',
      'server.address': new URL(delivery.url).hostname,
      'mediary.task': task,
    };
    return spans.run(task, { name: 'callback', kind: 'client', attributes }, async (span) => {
      if (span === undefined) return post(delivery, task);
      const headers = { ...delivery.headers, traceparent: span.traceparent };
      const answer = await post({ ...delivery, headers }, task);
      span.set({ 'http.response.status_code': answer.status });
      return answer;
    });
  };
}

type CopyResults = ChannelActivityDeps['copyResults'];

/** `copier` absent: results stay where they are. */
export function tracedCopy(
  copier: { readonly copy: CopyResults } | undefined,
  spans: TaskSpans | undefined,
): CopyResults {
  if (copier === undefined) return (_, items) => Promise.resolve(items);
  if (spans === undefined) return (...copied) => copier.copy(...copied);
  return (task, ...rest) => spans.run(task, { name: 'results.copy' }, () => copier.copy(task, ...rest));
}
