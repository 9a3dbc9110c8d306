/** What the legacy syntax in a prompt sets, each only if the body does not. */
export interface InlineParameters {
  readonly resolution?: string;
  readonly ratio?: string;
  readonly duration?: number;
  readonly seed?: number;
}

const pattern = /--([a-z]+)[ =]+(-?[\w:.]+)/gi;

/** `--rs 720p --rt 16:9 --dur 5 --fps 24 --seed 11 --cf false --wm true`, long names too; the rest changes nothing here. */
export function inlineParameters(text: string): InlineParameters {
  const found: { resolution?: string; ratio?: string; duration?: number; seed?: number } = {};
  for (const [, name = '', value = ''] of text.matchAll(pattern)) {
    const number = Number(value);
    switch (name.toLowerCase()) {
      case 'rs':
      case 'resolution':
        found.resolution = value;
        break;
      case 'rt':
      case 'ratio':
        found.ratio = value;
        break;
      case 'dur':
      case 'duration':
        if (Number.isInteger(number)) found.duration = number;
        break;
      case 'seed':
        if (Number.isInteger(number)) found.seed = number;
        break;
      default:
    }
  }
  return found;
}
