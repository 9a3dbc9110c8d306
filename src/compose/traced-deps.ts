import type { TaskSpans } from '../observability/task-spans.ts';
import type { Deliver } from '../routing/delivery.ts';
import type { PostCallback } from '../../activities/deps.ts';

/** Records each request as a span, which receivers can continue through the `traceparent` header. */
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

export function tracedDelivery(deliver: Deliver, spans: TaskSpans | undefined): Deliver {
  if (spans === undefined) return deliver;
  return (task, ...rest) => spans.run(task, { name: 'results.copy' }, () => deliver(task, ...rest));
}
