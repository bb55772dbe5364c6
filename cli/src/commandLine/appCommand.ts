import { createApp, type Services } from '@stowage/core';
import { Command } from 'commander';
import { administrator } from './administrator.js';
import { documented } from './documented.js';
import { configOf, withSettings } from './settings.js';

interface CommandDefinition<Options> {
	/** Such as `rename <old> <new>`. */
	usage: string;
	description: string;
	examples: readonly string[];
	/** The meaning of its exit codes, if it differs from the usual one. */
	codes?: string;
	/** With the words of the command line and its options. */
	run(services: Services, words: readonly string[], options: Options): Promise<void>;
}

/** A command that works on the database and the files, whether the server runs or not. Options are added by the caller. */
export function appCommand<Options extends object>({
	usage,
	description,
	examples,
	codes,
	run,
}: CommandDefinition<Options>): Command {
	const [name = '', ...words] = usage.split(' ');
	const command = withSettings(new Command(name).description(description));
	for (const word of words) command.argument(word);
	documented(command, examples, codes);
	return command.action(async () => {
		const app = await createApp(configOf(command), { administrator: administrator(), serves: false });
		try {
			await run(app.services, command.args, command.opts<Options>());
		} finally {
			await app.stop();
		}
	});
}
