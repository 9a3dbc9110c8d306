import { LRUCache } from 'lru-cache';

export interface Counts {
  submits: number;
  creates: number;
  gets: number;
  lists: number;
  deletes: number;
  media: number;
  callbacks: { attempts: number; delivered: number; failed: number };
}

export interface PromptCounts {
  submits: number;
  creates: number;
}

const promptsMax = 50_000;
const promptCharacters = 500;

export class Statistics {
  #counts = emptyCounts();
  readonly #prompts = new LRUCache<string, PromptCounts>({ max: promptsMax });

  count(what: 'gets' | 'lists' | 'deletes' | 'media'): void {
    this.#counts[what] += 1;
  }

  countCallback(what: keyof Counts['callbacks']): void {
    this.#counts.callbacks[what] += 1;
  }

  countPrompt(what: keyof PromptCounts, prompt: string): void {
    this.#counts[what] += 1;
    const key = prompt.slice(0, promptCharacters);
    const known = this.#prompts.get(key) ?? { submits: 0, creates: 0 };
    this.#prompts.set(key, { ...known, [what]: known[what] + 1 });
  }

  counts(): Counts {
    return structuredClone(this.#counts);
  }

  ofPrompt(part: string): PromptCounts {
    const sum: PromptCounts = { submits: 0, creates: 0 };
    for (const [prompt, counts] of this.#prompts) {
      if (!prompt.includes(part)) continue;
      sum.submits += counts.submits;
      sum.creates += counts.creates;
    }
    return sum;
  }

  reset(): void {
    this.#counts = emptyCounts();
    this.#prompts.clear();
  }
}

function emptyCounts(): Counts {
  const callbacks = { attempts: 0, delivered: 0, failed: 0 };
  return { submits: 0, creates: 0, gets: 0, lists: 0, deletes: 0, media: 0, callbacks };
}
