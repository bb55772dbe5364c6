import { type App, createApp } from '@stowage/core';
import { Command } from 'commander';
import { configOf, withSettings } from '../settings.js';
import { webRoot } from '../webRoot.js';

export function serveCommand(): Command {
	const command = withSettings(new Command('serve').description('serve the page and the API until stopped'));
	return command.action(async () => {
		const app = await createApp(configOf(command), { webRoot: await webRoot() });
		const { log } = app.services;
		const stopping = createStop(app);
		process.on('SIGTERM', () => stopping('SIGTERM', 0)).on('SIGINT', () => stopping('SIGINT', 0));
		// A bug left the process in a state that nobody knows: what runs may end, then a supervisor starts a new one.
		const onBug = (error: unknown) => {
			log.fatal({ err: error }, 'a bug: stopping');
			stopping('bug', 70);
		};
		process.on('uncaughtException', onBug).on('unhandledRejection', onBug);

		const address = await app.start();
		console.log(`Stowage is ready at ${address}`);
	});
}

/** However long the ending of what runs may take, the process is gone after this. */
const deadlineMs = 25_000;

/** Ends the server and then the process. Asked again while it ends, it goes on ending: signals often come twice, to a process and to its group. */
function createStop(app: App): (reason: string, code: number) => void {
	const { log } = app.services;
	let isStopping = false;
	return (reason, code) => {
		if (isStopping) return;
		isStopping = true;
		log.info({ reason }, 'stopping');
		setTimeout(() => process.exit(code || 1), deadlineMs).unref();
		app.stop().then(
			() => process.exit(code),
			(error: unknown) => {
				log.error({ err: error }, 'stopping failed');
				process.exit(code || 1);
			},
		);
	};
}
