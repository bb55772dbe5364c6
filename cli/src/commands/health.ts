import { type IncomingMessage, request } from 'node:http';
import { isIPv6 } from 'node:net';
import { type Config, ConfigError } from '@stowage/core';
import { Failure } from '@stowage/rules';
import { Command } from 'commander';
import { withHelp } from '../commandLine/help.js';
import { configOf, withSettings } from '../commandLine/settings.js';
import { printLine } from '../terminal/output.js';

/** A server that takes longer is not healthy. */
const timeoutMs = 5_000;

/** Asks the running server where the configuration says that it listens: for containers and supervisors. */
export function healthCommand(): Command {
	const command = withSettings(
		new Command('health')
			.description('ask the running server, where the configuration says that it listens, whether it answers')
			.option('--ready', 'also whether its database, storage roots and plugins can be used'),
	);
	withHelp(command, ['health', 'health --config /etc/stowage/stowage.yaml --ready']);
	return command.action(async ({ ready }: { ready?: true }) => {
		const config = configOf(command);
		const path = `${config.basePath}/api/${ready ? 'ready' : 'health'}`;
		const { statusCode } = await answerOf(placeOf(config), path);
		if (statusCode !== 200) throw new Failure('unavailable', `The server answers ${statusCode} to ${path}.`);
		printLine('ok');
	});
}

type Place = { socketPath: string } | { host: string; port: number };

function placeOf({ listen, host, port }: Config): Place {
	if (listen !== '') return { socketPath: listen.slice('unix:'.length) };
	if (port === 0)
		throw new ConfigError('The setting port is 0, so the server listens on a port that this command can’t know.');
	// It listens on all addresses of the machine.
	if (host === '0.0.0.0') return { host: '127.0.0.1', port };
	return { host: isIPv6(host) && /^[0:]+$/.test(host) ? '::1' : host, port };
}

/** Resolves to the head of the answer. The name of the host is one that every server answers to. */
function answerOf(place: Place, path: string): Promise<IncomingMessage> {
	return new Promise((resolve, reject) => {
		const signal = AbortSignal.timeout(timeoutMs);
		const onError = (cause: NodeJS.ErrnoException) => {
			const reason = signal.aborted ? `no answer within ${timeoutMs / 1000} s` : (cause.code ?? cause.message);
			const at = 'socketPath' in place ? place.socketPath : `${place.host}:${place.port}`;
			reject(new Failure('unavailable', `The server can't be asked at ${at} (${reason}).`, { cause }));
		};
		request({ ...place, path, signal, agent: false, headers: { host: 'localhost' } }, (response) => {
			// Of the body nothing is needed.
			response.on('error', () => undefined).resume();
			resolve(response);
		})
			.on('error', onError)
			.end();
	});
}
