import type { PluginHost } from './server.js';

/** The first answers come before that, also on a slow machine. */
const afterMs = 1000;

/** Runs `work` a moment after the server has started, and not in commands: what it costs delays no first answer. */
export function afterStart(host: Pick<PluginHost, 'ext'>, work: () => void): void {
	let timer: NodeJS.Timeout | undefined;
	host.ext('onPostStart', () => {
		timer = setTimeout(work, afterMs).unref();
	});
	host.ext('onPreStop', () => clearTimeout(timer));
}
