import type { Command } from 'commander';

export const startupCode = '78 a mistake in the configuration or the database';

const exitCodes = `Exit codes: 0 done, 1 refused or failed, ${startupCode}.`;

/** Adds examples, as they are typed, and the exit codes to the help of a command. */
export function withHelp(command: Command, examples: readonly string[], codes = exitCodes): Command {
	const lines = examples.map((example) => `  $ stowage ${example}`);
	return command.addHelpText('after', `\n${['Examples:', ...lines].join('\n')}\n\n${codes}`);
}
