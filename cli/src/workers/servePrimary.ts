import { type Config, createLog, serveMetrics, workerCount } from '@stowage/core';
import { findSupervisor } from '../service/supervisor.js';
import { exitWithoutThreads } from '../terminal/endInTime.js';
import { printLine } from '../terminal/output.js';
import { workerVariable } from './asWorker.js';
import { Listener } from './Listener.js';
import { Primary } from './Primary.js';

/**
 * Runs the process that starts the ones that serve: it owns the port or socket and the address of the metrics, and
 * speaks with the service manager. SIGHUP has all read the configuration again, SIGUSR2 replaces one after another,
 * SIGTERM and SIGINT end all.
 */
export async function servePrimary(config: Config): Promise<void> {
	const log = createLog(config.log.level);
	const count = workerCount(config);
	if (config.workers === 'auto') log.info({ workers: count }, 'as many processes serve as there are cores');
	const listener = new Listener(config);
	const address = await listener.listen();
	let status: string | undefined;
	let isReloadWanted = false;
	const primary = new Primary({
		count,
		env: { [workerVariable]: `${process.umask().toString(8)} ${address}` },
		listener,
		log,
		onReady() {
			status = `Serving at ${address}`;
			supervisor.ready(status);
			printLine(`Stowage is ready at ${address}`);
			if (isReloadWanted) reload(status);
		},
		onWaiting: (reason) => supervisor.waiting(reason),
		onEnd: (code) => void stop('its processes ended', code),
	});
	const supervisor = await findSupervisor(process.env, log, async () => primary.isAlive);
	if (config.metrics.listen !== '') {
		const served = await serveMetrics(config.metrics.listen, () => primary.readMetrics(), log);
		log.info({ address: served.address }, 'metrics are served');
	}

	const reload = (serving: string) => {
		supervisor.reloading();
		void primary.reload().then((outcome) => supervisor.ready(`${serving}${outcome}`));
	};
	let isStopping = false;
	const stop = async (reason: string, code: number) => {
		if (isStopping) return;
		isStopping = true;
		supervisor.stopping();
		log.info({ reason }, 'stopping');
		listener.end();
		await primary.stop();
		exitWithoutThreads(code);
	};
	process.on('SIGTERM', () => stop('SIGTERM', 0)).on('SIGINT', () => stop('SIGINT', 0));
	process.on('SIGHUP', () => {
		// Of a terminal that was closed.
		if (process.stdin.isTTY) return void stop('SIGHUP', 0);
		if (status !== undefined) return reload(status);
		isReloadWanted = true;
	});
	process.on('SIGUSR2', () => {
		log.info('the processes are replaced one after another');
		primary.renew();
	});
	primary.start();
}
