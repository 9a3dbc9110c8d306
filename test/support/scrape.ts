export interface Series {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export function parseScrape(text: string): readonly Series[] {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((line) => {
    const [, name = '', inner = '', value = ''] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    const labels = [...inner.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)];
    return {
      name,
      labels: Object.fromEntries(labels.map(([, label = '', content = '']) => [label, content])),
      value: Number(value.replace('Inf', 'Infinity')),
    };
  });
}

export function familyOf({ name }: Pick<Series, 'name'>): string {
  return name.replace(/_(?:bucket|sum|count)$/, '');
}
