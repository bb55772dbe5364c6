import { Argument, Command } from 'commander';
import { withHelp } from '../commandLine/help.js';
import { printText } from '../terminal/output.js';

/** A script for a shell that completes the commands of `program` and their options. */
export function completionCommand(program: () => Promise<Command>): Command {
	const command = new Command('completion')
		.description('print a script that completes commands in a shell')
		.addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish']))
		.action(async (shell: keyof typeof scripts) => {
			printText(scripts[shell](wordsOf(await program())));
		});
	return withHelp(command, [
		'completion bash > /etc/bash_completion.d/stowage',
		'completion zsh > /usr/share/zsh/site-functions/_stowage',
		'completion fish > ~/.config/fish/completions/stowage.fish',
	]);
}

interface Word {
	text: string;
	description: string;
}

/** The words after a command, by its words with a slash before each: its own commands, or its options. */
type Words = ReadonlyMap<string, readonly Word[]>;

function wordsOf(command: Command, path = ''): Words {
	const commands = command.commands.map((each) => ({ text: each.name(), description: each.description() }));
	const options = command.options.flatMap(({ long, description }) => (long ? [{ text: long, description }] : []));
	const help = { text: '--help', description: 'show the help of the command' };
	const choices = command.registeredArguments.flatMap(({ argChoices = [] }) =>
		argChoices.map((text) => ({ text, description: '' })),
	);
	return new Map([
		[path, [...commands, ...choices, ...options, help]],
		...command.commands.flatMap((each) => [...wordsOf(each, `${path}/${each.name()}`)]),
	]);
}

const scripts = { bash, zsh, fish };

function bash(words: Words): string {
	return `# Completion of stowage for bash.
_stowage() {
	local current=\${COMP_WORDS[COMP_CWORD]} at= choices= word
	for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
${choicesAt(words)}
	mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$current")
}
complete -o default -F _stowage stowage
`;
}

function zsh(words: Words): string {
	return `#compdef stowage
# Completion of stowage for zsh: in a folder of $fpath as _stowage, or by eval.
_stowage() {
	local at= choices= word
	for word in \${words[2,CURRENT-1]}; do
${choicesAt(words)}
	compadd -- \${=choices} || _files
}
if [ "$funcstack[1]" = _stowage ]; then _stowage "$@"; else compdef _stowage stowage; fi
`;
}

function fish(words: Words): string {
	const lines = [...words].flatMap(([path, following]) =>
		following.map(({ text, description }) => {
			const what = text.startsWith('--') ? `-l ${text.slice(2)}` : `-f -a ${text}`;
			// Paths are our own words, which need no quoting.
			return `complete -c stowage -n '__stowage_at "${path}"' ${what} -d ${quoted(description)}`;
		}),
	);
	return `# Completion of stowage for fish.
function __stowage_at
	set -l at ''
	for word in (commandline -opc)[2..]
		switch "$at/$word"
			case ${paths(words).map(quoted).join(' ')}
				set at "$at/$word"
		end
	end
	test "$at" = "$argv[1]"
end
${lines.join('\n')}
`;
}

/**
 * The common part for bash and zsh: from each `$word` to the resulting command, `$at`, and to the words that may follow that, `$choices`.
 */
function choicesAt(words: Words): string {
	return `		case "$at/$word" in
			${paths(words).join('|')}) at="$at/$word" ;;
		esac
	done
	case "$at" in
${cases(words)}
	esac`;
}

function paths(words: Words): string[] {
	return [...words.keys()].filter((path) => path !== '');
}

function cases(words: Words): string {
	return [...words]
		.map(([path, following]) => `\t\t'${path}') choices="${following.map(({ text }) => text).join(' ')}" ;;`)
		.join('\n');
}

function quoted(text: string): string {
	return `'${text.replace(/[\\']/g, '\\$&')}'`;
}
