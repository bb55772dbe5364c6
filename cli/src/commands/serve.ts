import { access } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import {
	type App,
	type Config,
	ConfigError,
	checkConfig,
	createApp,
	createLog,
	endFailedRequest,
	workerCount,
} from '@stowage/core';
import { Command } from 'commander';
import { startupCode, withHelp } from '../commandLine/help.js';
import { configAgain, dropRootPrivileges, examinedConfig, isPassedByShell } from '../commandLine/loadConfigAsOwner.js';
import { configFileOf, withSettings } from '../commandLine/settings.js';
import { hasDroppedRoot } from '../privileges/becomeOwner.js';
import { objectionToSocket } from '../privileges/placesOfRoot.js';
import { StartWait } from '../service/StartWait.js';
import { findSupervisor, heartbeatOf, type Supervisor } from '../service/supervisor.js';
import { exitWithoutThreads } from '../terminal/endInTime.js';
import { printLine } from '../terminal/output.js';
import {
	connectionsOfPrimary,
	SiblingsOfPrimary,
	superviseByPrimary,
	takeWorkerAddress,
	tellWaiting,
} from '../workers/asWorker.js';
import { servePrimary } from '../workers/servePrimary.js';

export function serveCommand(): Command {
	const command = withSettings(new Command('serve').description('serve the page and the API until stopped'));
	command.option('--refuse-root', 'stop instead of running as root');
	withHelp(
		command,
		['serve', 'serve --config /etc/stowage/stowage.yaml'],
		`Exit codes: 0 stopped as asked, 1 it could not start or stop, 70 stopped after an unexpected error, ${startupCode}.`,
	);
	return command.action(async () => {
		if (command.getOptionValue('refuseRoot') === true && process.geteuid?.() === 0)
			throw new ConfigError(
				'The server does not run as root here: give the service a user of its own (User= in its unit).',
			);
		// Until it serves there is nothing to replace, and by default the signal ends a process.
		process.on('SIGUSR2', () => {});
		const primaryAddress = takeWorkerAddress(process.env);
		const { config, objection } = await examinedConfig(command);
		await dropRootPrivileges(config, [], objection);
		await assertRootMayListen(config);
		if (primaryAddress !== undefined) await serveAsWorker(config, command, primaryAddress);
		else if (workerCount(config) > 1) {
			assertForWorkers(configFileOf(command));
			await servePrimary(config);
		} else await serveAlone(config, command);
	});
}

/** Throws ConfigError where this stays root, and somebody else could exchange the folder of the socket. */
async function assertRootMayListen(config: Config): Promise<void> {
	const reason = process.geteuid?.() === 0 ? await objectionToSocket(config) : undefined;
	if (reason !== undefined) throw new ConfigError(reason);
}

/** Throws if the workers could not read the configuration, each by itself: as another user they can't open a file of root's shell. */
function assertForWorkers(configFile: string | undefined): void {
	if (configFile === undefined || !hasDroppedRoot() || !isPassedByShell(configFile)) return;
	throw new ConfigError(`Several processes can't read the configuration from ${configFile}: name a file.`);
}

async function serveAlone(config: Config, command: Command): Promise<void> {
	const log = createLog(config.log.level);
	let beat = async () => true;
	const supervisor = await findSupervisor(process.env, log, () => beat());
	const waiting = new StartWait(log, supervisor.waiting);
	const stopAtOnce = () => exitWithoutThreads(0);
	process.on('SIGTERM', stopAtOnce).on('SIGINT', stopAtOnce);
	let isReloadWanted = false;
	const reloadLater = () => {
		// The terminal was closed.
		if (process.stdin.isTTY) stopAtOnce();
		isReloadWanted = true;
	};
	process.on('SIGHUP', reloadLater);
	const app = await createApp(config, { webRoot: await webRoot(), log, onUnavailable: waiting.pause });
	waiting.end();
	process.off('SIGTERM', stopAtOnce).off('SIGINT', stopAtOnce);
	beat = heartbeatOf(app.services);
	if (config.workers === 'auto') log.info({ workers: 1 }, 'one process serves, for there is one core');
	const stopping = createStop(app, supervisor);
	process.on('SIGTERM', () => stopping('SIGTERM', 0)).on('SIGINT', () => stopping('SIGINT', 0));
	process.on('SIGUSR2', () =>
		log.warn('one process serves, and nothing was replaced: restart the server, or set workers to 2 or more'),
	);
	stopAfterUnexpected(app, stopping);
	const address = await app.start();
	const serving = `Serving at ${address}`;
	supervisor.ready(serving);
	printLine(`Stowage is ready at ${address}`);
	const onHangup = () => {
		// The terminal was closed.
		if (process.stdin.isTTY) return stopping('SIGHUP', 0);
		supervisor.reloading();
		void reload(app, command).then((outcome) => supervisor.ready(`${serving}${outcome}`));
	};
	process.off('SIGHUP', reloadLater).on('SIGHUP', onHangup);
	if (isReloadWanted) onHangup();
}

/**
 * Serves what the primary process hands on, which alone is told by a terminal or a service manager what to do; all but
 * SIGTERM, which ends this one.
 */
async function serveAsWorker(config: Config, command: Command, address: string): Promise<void> {
	for (const signal of ['SIGHUP', 'SIGINT']) process.on(signal, () => {});
	const log = createLog(config.log.level);
	const waiting = new StartWait(log, tellWaiting);
	const stopAtOnce = () => exitWithoutThreads(1);
	process.on('disconnect', stopAtOnce);
	const app = await createApp(config, {
		webRoot: await webRoot(),
		log,
		connections: connectionsOfPrimary(address, config.log),
		siblings: new SiblingsOfPrimary(),
		onUnavailable: waiting.pause,
	});
	waiting.end();
	process.off('disconnect', stopAtOnce);
	const stopping = createStop(
		app,
		superviseByPrimary(app, () => reload(app, command)),
	);
	process.on('SIGTERM', () => stopping('SIGTERM', 0));
	process.on('disconnect', () => stopping('the process that listens has ended', 1));
	stopAfterUnexpected(app, stopping);
	await app.start();
}

function stopAfterUnexpected({ services: { log } }: App, stopping: (reason: string, code: number) => void): void {
	const onUnexpected = (error: unknown) => {
		if (endFailedRequest(error, log)) return;
		// The state of the process is unknown: current requests may end, then a supervisor starts a new one.
		log.fatal({ err: error }, 'unexpected error outside of any request: stopping');
		stopping('unexpected error', 70);
	};
	process.on('uncaughtException', onUnexpected).on('unhandledRejection', onUnexpected);
}

/**
 * Reads the configuration again. An error in it, as a start would find it, leaves the former one in force. Resolves to the addition to a
 * status line.
 */
async function reload(app: App, command: Command): Promise<string> {
	const { log } = app.services;
	try {
		const next = await configAgain(command);
		await checkConfig(next);
		for (const warning of next.warnings) log.warn({ reason: warning }, 'an environment variable was ignored');
		const { applied, needRestart } = app.reload(next);
		log.info({ settings: applied }, 'the configuration was reloaded');
		if (needRestart.length === 0) return '';
		log.warn({ settings: needRestart }, 'changed settings need a restart');
		return `; a restart is needed for ${needRestart.join(', ')}`;
	} catch (error) {
		log.error({ err: error }, 'the configuration could not be reloaded: the old one stays in force');
		return '; the configuration on disk has a mistake, see the log';
	}
}

/** The process ends after this time in any case. */
const deadlineMs = 25_000;

/** Ends the server and then the process. Further signals are ignored meanwhile: they often come twice, to a process and to its group. */
function createStop(app: App, supervisor: Supervisor): (reason: string, code: number) => void {
	const { log } = app.services;
	let isStopping = false;
	return (reason, code) => {
		if (isStopping) return;
		isStopping = true;
		supervisor.stopping();
		log.info({ reason }, 'stopping');
		setTimeout(() => exitWithoutThreads(code || 1), deadlineMs).unref();
		app.stop().then(
			() => exitWithoutThreads(code),
			(error: unknown) => {
				log.error({ err: error }, 'stopping failed');
				exitWithoutThreads(code || 1);
			},
		);
	};
}

/** The folder of the built page. */
async function webRoot(): Promise<string> {
	const folder = path.join(path.dirname(fileURLToPath(import.meta.resolve('@stowage/web/package.json'))), 'dist');
	try {
		await access(path.join(folder, 'index.html'));
	} catch (cause) {
		throw new Error('The page is not built yet: run `npm run build` once.', { cause });
	}
	return folder;
}
