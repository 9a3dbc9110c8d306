import type { ResultItem } from '../task/task.ts';
import { UpstreamError } from '../providers/provider.ts';
import type {
  GeneratedImages,
  OperationStatus,
  Provider,
  SynchronousImageProvider,
} from '../providers/provider.ts';
import { withStatuses, wrapped } from '../providers/wrapped.ts';

export interface LinkRules {
  readonly check: (url: string) => string | undefined;
  /** Called with withheld links that no task stores, so that operators can be notified. */
  readonly onWithheld: (links: readonly string[]) => void;
}

const code = 'unusable_link';
const message = 'The upstream delivered a link that cannot be used.';

/**
 * Makes sure that results contain only safe links, because an upstream is trusted no more than a caller. If a link is
 * not an absolute web URL, contains credentials or points into a private network, the result becomes a failure, which
 * is not charged. The failure keeps the links for operators.
 */
export function withUsableLinks(provider: Provider, rules: LinkRules): Provider {
  return wrapped(provider, {
    tasks: (part) => withStatuses(part, (status) => checkedStatus(status, rules)),
    images: (part) => checkedImages(part, rules),
  });
}

function checkedImages(image: SynchronousImageProvider, rules: LinkRules): SynchronousImageProvider {
  const { resume } = image;
  const checked = (generated: GeneratedImages): GeneratedImages => {
    const withheld = unusableLinks(generated.images, rules);
    if (withheld.length === 0) return generated;
    rules.onWithheld(withheld);
    // The images have been rendered, so `ambiguous` prevents another channel from rendering them again.
    throw new UpstreamError('ambiguous', message, { code });
  };
  return {
    ...image,
    generate: async (request, context) => checked(await image.generate(request, context)),
    ...(resume === undefined ? {} : { resume: async (job, context) => checked(await resume(job, context)) }),
  };
}

function checkedStatus(status: OperationStatus, rules: LinkRules): OperationStatus {
  if (status.state !== 'succeeded') return status;
  const withheld = unusableLinks(status.items, rules);
  if (withheld.length === 0) return status;
  const { items: _items, facts: _facts, ...rest } = status;
  return { ...rest, state: 'failed', code, message, failure: { class: 'internal' }, withheld };
}

function unusableLinks(
  items: readonly Pick<ResultItem, 'url' | 'lastFrameUrl'>[],
  { check }: LinkRules,
): string[] {
  const links = items.flatMap(({ url, lastFrameUrl }) => [url ?? [], lastFrameUrl ?? []].flat());
  return links.filter((link) => check(link) !== undefined);
}
