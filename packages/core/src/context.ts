import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Viewer } from '@stowage/rules';

/** Running code belongs to a request, to a connection beside its requests, or to a job; or to none of them. */
export interface Context {
	socket?: Socket;
	response?: ServerResponse;
	request?: RequestContext;
	job?: JobContext;
}

/** A request as the log and the audit log name it. */
export interface RequestContext {
	/** Random, and the same in every line of this request. */
	readonly id: string;
	/** The viewer, once authenticated. */
	readonly caller: {
		readonly client: { readonly address: string };
		readonly viewer: Viewer;
		/** By which the logs name what was asked for, since its address may have a secret anywhere. */
		readonly route: { readonly path: string };
	};
}

export interface JobContext {
	readonly id: string;
	readonly kind: string;
	readonly owner: Viewer;
	/** The network of who has started it, where that is known. */
	readonly network?: string;
}

const contexts = new AsyncLocalStorage<Context>();

export function currentContext(): Context | undefined {
	return contexts.getStore();
}

/** All that `run` begins, now and later, belongs to the context too. */
export function runInContext<Args extends unknown[], T>(context: Context, run: (...args: Args) => T, ...args: Args): T {
	return contexts.run(context, run, ...args);
}

/** Sets the name of the running code in the logs. */
export function setRequestCaller(caller: RequestContext['caller']): void {
	const context = contexts.getStore();
	if (context !== undefined) context.request = { id: randomUUID(), caller };
}

/** The fields of each line of the log about its request or job. */
export function logFields(): Record<string, string> {
	const { request, job } = contexts.getStore() ?? {};
	const viewer = request?.caller.viewer ?? job?.owner;
	return {
		...(request === undefined ? {} : { requestId: request.id }),
		...(job === undefined ? {} : { job: job.id }),
		...(viewer?.kind === 'user' ? { user: viewer.username } : {}),
	};
}
