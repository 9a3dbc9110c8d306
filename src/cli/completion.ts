import { Argument, type Command, type Option } from 'commander';
import type { CliContext } from './context.ts';

const shells = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof shells)[number];

/**
 * The printed script contains all words, so completing a line does not start the program. Call this last, once all
 * commands have been added.
 */
export function addCompletionCommand(completion: Command, context: CliContext): void {
  completion
    .addArgument(new Argument('<shell>').choices(shells))
    .action((shell: Shell, _options: object, command: Command) => {
      const places = command.parent === null ? [] : placesIn(command.parent, command.parent);
      context.print(shell === 'fish' ? fishScript(places) : posixScript(places, endings[shell]));
    });
}

interface Place {
  readonly at: string;
  readonly words: readonly string[];
  readonly values: readonly { readonly flags: readonly string[]; readonly choices: readonly string[] }[];
}

function placesIn(command: Command, program: Command, path: readonly string[] = []): Place[] {
  const options = [...new Set([...command.options, ...program.options])];
  const below = command.commands.flatMap((one) =>
    [one.name(), ...one.aliases()].flatMap((name) => placesIn(one, program, [...path, name])),
  );
  const place = {
    at: path.join(' '),
    words: [
      ...command.commands.map((one) => one.name()),
      ...command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
      ...options.flatMap(({ long }) => long ?? []),
      '--help',
    ],
    values: options.filter(({ required }) => required).map(valuesOf),
  };
  return [place, ...below];
}

function valuesOf({ short, long, argChoices = [] }: Option) {
  return { flags: [short, long].filter((flag) => flag !== undefined), choices: argChoices };
}

const quoted = (text: string): string => `'${text}'`;

function posixScript(places: readonly Place[], ending: string): string {
  const values = places.flatMap(({ at, values: all }) =>
    all.map(({ flags, choices }) => {
      const cases = flags.map((flag) => quoted(`${at} ${flag}`)).join('|');
      return `    ${cases}) echo ${quoted(choices.join(' '))} ;;`;
    }),
  );
  const words = places.map(({ at, words: all }) => `      ${quoted(at)}) echo ${quoted(all.join(' '))} ;;`);
  return `__gateway_at() {
  local at= word
  for word in "$@"; do
    case "\${at:+$at }$word" in
      ${places.flatMap(({ at }) => (at === '' ? [] : quoted(at))).join('|')}) at="\${at:+$at }$word" ;;
    esac
  done
  printf '%s' "$at"
}
__gateway_words() {
  case "$1 $2" in
${values.join('\n')}
    *) case "$1" in
${words.join('\n')}
    esac ;;
  esac
}
${ending}`;
}

const endings = {
  bash: `_gateway() {
  local at="$(__gateway_at "\${COMP_WORDS[@]:1:COMP_CWORD-1}")"
  local words="$(__gateway_words "$at" "\${COMP_WORDS[COMP_CWORD-1]}")"
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _gateway gateway`,
  zsh: `_gateway() {
  local at="$(__gateway_at "\${(@)words[2,CURRENT-1]}")"
  compadd -- \${=$(__gateway_words "$at" "\${words[CURRENT-1]}")}
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
compdef _gateway gateway`,
} as const;

function fishScript(places: readonly Place[]): string {
  const values = places.flatMap(({ at, values: all }) =>
    all.map(({ flags, choices }) => {
      const cases = flags.map((flag) => quoted(`${at} ${flag}`)).join(' ');
      return `    case ${cases}\n      string split -n -- ' ' ${quoted(choices.join(' '))}\n      return`;
    }),
  );
  const words = places.map(
    ({ at, words: all }) => `    case ${quoted(at)}\n      string split -- ' ' ${quoted(all.join(' '))}`,
  );
  return `function __gateway_words
  set -l tokens (commandline -opc)
  set -l at ''
  for word in $tokens[2..-1]
    switch (string trim "$at $word")
      case ${places.flatMap(({ at }) => (at === '' ? [] : quoted(at))).join(' ')}
        set at (string trim "$at $word")
    end
  end
  switch "$at $tokens[-1]"
${values.join('\n')}
  end
  switch "$at"
${words.join('\n')}
  end
end
complete -c gateway -f -a '(__gateway_words)'`;
}
