const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

export function plainText(markup: string): string {
  return markup
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => entities[name] ?? '');
}

export function anchorsOf(page: string): readonly string[] {
  return [...page.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id);
}

export function programsOn(page: string): ReadonlyMap<string, Readonly<Record<string, string>>> {
  const sections = page.split('<section class="operation" id="').slice(1);
  return new Map(
    sections.map((section) => {
      const programs = [
        ...section.matchAll(/<pre [^>]*class="program" data-language="(\w+)"><code>([^]*?)<\/code>/g),
      ].map(([, language = '', text = '']): [string, string] => [language, plainText(text)]);
      return [section.slice(0, section.indexOf('"')), Object.fromEntries(programs)];
    }),
  );
}
