import { type Config, openCommandServices, type Services } from '@stowage/core';
import { Command } from 'commander';
import { administrator } from './administrator.js';
import { commandLog } from './commandLog.js';
import { withHelp } from './help.js';
import { loadConfigAsOwner, type NamedFile } from './loadConfigAsOwner.js';
import { withSettings } from './settings.js';

interface CommandDefinition<Options> {
	/** Such as `rename <old> <new>`. */
	usage: string;
	description: string;
	examples: readonly string[];
	/** The meaning of its exit codes, if it differs from the usual one. */
	codes?: string;
	/** Settings whose flags this command uses otherwise. */
	without?: readonly string[];
	/** Runs the command with its arguments and options. */
	run(services: Services, words: readonly string[], options: Options): Promise<void>;
}

/** A command that works on the database and the files, whether the server runs or not. Options are added by the caller. */
export function appCommand<Options extends object>({
	usage,
	description,
	examples,
	codes,
	without,
	run,
}: CommandDefinition<Options>): Command {
	const [name = '', ...words] = usage.split(' ');
	const command = withSettings(new Command(name).description(description), without);
	for (const word of words) command.argument(word);
	withHelp(command, examples, codes);
	return command.action(() => withApp(command, [], (services) => run(services, command.args, command.opts<Options>())));
}

/**
 * Runs `use` with the services of this command's configuration, once the named files are open. `examine` may refuse that configuration
 * before the database is opened, which brings its tables up to date.
 */
export async function withApp(
	command: Command,
	files: readonly NamedFile[],
	use: (services: Services) => Promise<void>,
	examine?: (config: Config) => Promise<void>,
): Promise<void> {
	const config = await loadConfigAsOwner(command, files);
	await examine?.(config);
	const log = commandLog(command, config);
	const opened = await openCommandServices(config, { log, administrator: administrator() });
	try {
		await use(opened.services);
	} finally {
		await opened.stop();
	}
}
