import { createApp } from '@stowage/core';
import { Command } from 'commander';
import { configOf, withSettings } from '../settings.js';
import { webRoot } from '../webRoot.js';

export function serveCommand(): Command {
	const command = withSettings(new Command('serve').description('serve the page and the API until stopped'));
	return command.action(async () => {
		const app = await createApp(configOf(command), { webRoot: await webRoot() });
		const { log } = app.services;
		const stop = async (reason: string, code: number) => {
			log.info({ reason }, 'stopping');
			await app.stop();
			process.exit(code);
		};
		process.once('SIGTERM', () => void stop('SIGTERM', 0));
		process.once('SIGINT', () => void stop('SIGINT', 0));
		// A bug left the process in a state that nobody knows: what runs may end, then a supervisor starts a new one.
		const onBug = (error: unknown) => {
			log.fatal({ err: error }, 'a bug: stopping');
			void stop('bug', 70);
		};
		process.once('uncaughtException', onBug).once('unhandledRejection', onBug);

		const address = await app.start();
		console.log(`Stowage is ready at ${address}`);
	});
}
