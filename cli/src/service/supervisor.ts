import type { Log, Services } from '@stowage/core';
import { type Notify, openNotifySocket } from './notifySocket.js';

/** The service manager that started this process and is notified of its state. Without one, nothing is sent. */
export interface Supervisor {
	/** Notifies that the server serves, also again after `reloading`. From then on the watchdog is notified at its interval. */
	ready(status: string): void;
	/** Notifies that the start waits for something, and takes longer for it. */
	waiting(reason: string): void;
	reloading(): void;
	stopping(): void;
}

/** What a start may take from when it was notified that it waits: the migration of a large database comes after that. */
const startMs = 15 * 60_000;

/** Without a service manager. */
const nobody: Supervisor = { ready() {}, waiting() {}, reloading() {}, stopping() {} };

/** How long the database may take to answer before it counts as hanging. */
const maxAnswerMs = 10_000;

type Environment = Record<string, string | undefined>;

/**
 * Finds the supervisor in the environment, from which it is taken out: the programs that are started later must not speak for this one. A
 * supervisor that can't be reached is a warning. Its watchdog is notified as long as `beat` resolves to true.
 */
export async function findSupervisor(env: Environment, log: Log, beat: () => Promise<boolean>): Promise<Supervisor> {
	const address = env.NOTIFY_SOCKET;
	const watchdogMs = watchdogOf(env);
	for (const name of ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID']) delete env[name];
	if (address === undefined || address === '') return nobody;
	const warn = (error: unknown) => log.warn({ err: error }, 'the service manager could not be notified');
	let notify: Notify;
	try {
		notify = await openNotifySocket(address);
	} catch (error) {
		warn(error);
		return nobody;
	}
	const send = (...lines: string[]) => void notify(lines.join('\n')).catch(warn);
	let watching: NodeJS.Timeout | undefined;
	return {
		ready(status) {
			send('READY=1', `STATUS=${status}`);
			if (watchdogMs === undefined || watching !== undefined) return;
			watching = setInterval(() => {
				void beat().then((isAlive) => {
					if (isAlive) send('WATCHDOG=1');
					else log.warn('the server or its database did not answer: the watchdog was not notified');
				});
			}, watchdogMs / 2);
			watching.unref();
		},
		waiting(reason) {
			send(`STATUS=${reason}`, `EXTEND_TIMEOUT_USEC=${startMs * 1000}`);
		},
		reloading() {
			send('RELOADING=1', `MONOTONIC_USEC=${process.hrtime.bigint() / 1000n}`, 'STATUS=Reading the configuration');
		},
		stopping() {
			clearInterval(watching);
			send('STOPPING=1', 'STATUS=Waiting for transfers to end');
		},
	};
}

/** Milliseconds within which the watchdog wants a notification, if it watches this process. */
function watchdogOf({ WATCHDOG_USEC, WATCHDOG_PID }: Environment): number | undefined {
	if (WATCHDOG_PID !== undefined && WATCHDOG_PID !== '' && Number(WATCHDOG_PID) !== process.pid) return undefined;
	const milliseconds = Number(WATCHDOG_USEC) / 1000;
	return milliseconds > 0 ? milliseconds : undefined;
}

/** The heartbeat of a process with these services. */
export function heartbeatOf({
	config,
	databaseProbe,
}: Pick<Services, 'config' | 'databaseProbe'>): () => Promise<boolean> {
	return createHeartbeat(() => databaseProbe.answer(), config.databaseUrl.startsWith('sqlite:'));
}

/**
 * Whether the database answers in time. One in a file is part of this process and must work. A server's refusal is an answer too: it
 * comes back by itself, and a restart of this process would not bring it back.
 */
export function createHeartbeat(
	ping: () => Promise<unknown>,
	mustSucceed: boolean,
	maxMs = maxAnswerMs,
): () => Promise<boolean> {
	return async () => {
		let timer: NodeJS.Timeout | undefined;
		const late = new Promise<boolean>((resolve) => {
			timer = setTimeout(() => resolve(false), maxMs);
		});
		const answered = ping().then(
			() => true,
			() => !mustSucceed,
		);
		const isAlive = await Promise.race([answered, late]);
		clearTimeout(timer);
		return isAlive;
	};
}
