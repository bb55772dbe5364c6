import type { Socket } from 'node:net';
import type { App, ConnectionSource, SiblingListeners, SiblingMessage, Siblings } from '@stowage/core';
import { heartbeatOf, type Supervisor } from '../service/supervisor.js';
import type { FromWorker, ToWorker } from './messages.js';

/** The variable by which the primary process starts a worker: the umask in octal digits, and the address at which it listens. */
export const workerVariable = 'STOWAGE_WORKER';

/**
 * The address at which the primary process listens, if this is one of its workers. Takes the variable out of the
 * environment, for the programs that are started later.
 */
export function takeWorkerAddress(env: NodeJS.ProcessEnv): string | undefined {
	const [, umask, address] = /^(\d+) (.+)$/s.exec(env[workerVariable] ?? '') ?? [];
	delete env[workerVariable];
	if (umask === undefined || process.send === undefined) return undefined;
	process.umask(umask);
	return address;
}

/** Tells the primary process what the start of this worker waits for. */
export function tellWaiting(reason: string): void {
	tell({ type: 'waiting', reason });
}

/** The connections that the primary process accepts, which is told the level of the log. */
export function connectionsOfPrimary(address: string, log: { level: string }): ConnectionSource {
	return {
		address,
		begin(accept) {
			process.on('message', (message: ToWorker, socket?: Socket) => {
				if (message.type !== 'connection') return;
				tell({ type: 'accepted', id: message.id });
				// It was closed on its way.
				if (socket !== undefined) accept(socket);
			});
			tell({ type: 'ready', logLevel: log.level });
		},
		end: () =>
			new Promise((resolve) => {
				process.on('message', (message: ToWorker) => {
					if (message.type === 'closed') resolve();
				});
				process.once('disconnect', resolve);
				if (!process.connected) resolve();
				tell({ type: 'closing' });
			}),
	};
}

/** The other workers, as the primary process tells of them. */
export class SiblingsOfPrimary implements Siblings {
	names: ReadonlySet<string> = new Set();
	isLeader = false;

	join(name: string, { onMessages, onJoined, onLead }: SiblingListeners): void {
		process.on('message', (message: ToWorker) => {
			if (message.type === 'told') onMessages(message.messages);
			if (message.type !== 'siblings') return;
			const before = this.names;
			const led = this.isLeader;
			this.names = new Set(message.names);
			this.isLeader = message.isLeader;
			for (const each of this.names) if (!before.has(each)) onJoined(each);
			if (!led && this.isLeader) onLead();
		});
		tell({ type: 'named', name });
	}

	send(messages: readonly SiblingMessage[], to?: string): void {
		tell({ type: 'tell', messages, to });
	}
}

/** The primary process as the supervisor of this worker: it is told what happens here, and says when to read the configuration again. */
export function superviseByPrimary(app: App, reload: () => Promise<string>): Supervisor {
	const beat = heartbeatOf(app.services);
	const readMetrics = async (id?: number) => {
		if (app.metrics !== undefined) tell({ type: 'metrics', id, families: await app.metrics.read() });
	};
	process.on('message', (message: ToWorker) => {
		if (message.type === 'ping') void beat().then((isAlive) => tell({ type: 'pong', isAlive }));
		else if (message.type === 'reload')
			void reload().then((outcome) => tell({ type: 'reloaded', outcome, logLevel: app.services.config.log.level }));
		else if (message.type === 'readMetrics') void readMetrics(message.id);
	});
	return {
		ready: () => {},
		waiting: () => {},
		reloading: () => {},
		// What it has counted goes on to count.
		stopping: () => void readMetrics(),
	};
}

function tell(message: FromWorker): void {
	if (process.connected) process.send?.(message);
}
