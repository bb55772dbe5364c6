import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { isListening } from './isListening.js';

/**
 * Starts a real Caddy with a Caddyfile and waits until it accepts connections at the address, a `host:port` of one of
 * its sites. It ends with the test.
 */
export async function startCaddy(
	t: { teardown(end: () => Promise<void>): void },
	address: string,
	caddyfile: string,
): Promise<void> {
	const folder = await mkdtemp(path.join(os.tmpdir(), 'stowage-caddy-'));
	const config = path.join(folder, 'Caddyfile');
	await writeFile(config, caddyfile);
	const caddy = spawn('caddy', ['run', '--config', config, '--adapter', 'caddyfile'], {
		env: { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
		stdio: ['ignore', 'ignore', 'pipe'],
	});
	let output = '';
	caddy.stderr.on('data', (chunk: Buffer) => {
		output += chunk.toString();
	});
	const ended = once(caddy, 'exit');
	t.teardown(async () => {
		caddy.kill();
		await ended;
		await rm(folder, { recursive: true, force: true });
	});
	while (!(await isListening(address))) {
		if (caddy.exitCode !== null) throw new Error(`Caddy did not start: ${output}`);
		await wait(20);
	}
}
