import { randomUUID } from 'node:crypto';
import { type Boom, isBoom } from '@hapi/boom';
import type { Request, ResponseToolkit } from '@hapi/hapi';
import { Failure, failures, isFailure } from '@stowage/rules';
import { currentContext } from '../context.js';
import type { Log } from '../log.js';
import type { FailureLog } from './failureLog.js';
import { failurePage, wantsPage } from './failurePage.js';

export interface ErrorAnswer {
	statusCode: number;
	code: string;
	error: string;
	message: string;
	requestId?: string;
}

/** Messages for the refusals of hapi itself. */
const ownSentences: Record<number, string> = {
	404: 'There is nothing here.',
	400: 'The request is not valid.',
};

interface ErrorParts {
	log: Log;
	logFailure: FailureLog;
	basePath: string;
}

/** The JSON of an error. An unexpected one is a 500 with a request id; its stack is only logged. */
function errorAnswer(error: Error, request: Request, { log, logFailure }: ErrorParts): ErrorAnswer {
	const place = { method: request.method, path: request.route.path };
	if (isFailure(error)) {
		if (error.status >= 500) logFailure(error, place);
		return failureAnswer(error);
	}
	const status = isBoom(error) ? error.output.statusCode : 500;
	if (status < 500) {
		const message = ownSentences[status] ?? error.message;
		return { statusCode: status, code: codeOfStatus(status), error: message, message };
	}
	// Random, since hapi's own id contains the host name.
	const requestId = currentContext()?.request?.id ?? randomUUID();
	log.error({ err: error, requestId, ...place }, 'unexpected error');
	const message = 'Something went wrong on the server.';
	return { statusCode: 500, code: 'INTERNAL', error: message, message, requestId };
}

/** The process can't keep up. */
export const overloaded = new Failure('unavailable', 'The server is busy right now. Please try again in a moment.', {
	retryAfter: 2,
});

/** The JSON of an expected refusal. */
export function failureAnswer({ status, code, message }: Failure): ErrorAnswer {
	return { statusCode: status, code, error: message, message };
}

function codeOfStatus(status: number): string {
	return Object.values(failures).find((failure) => failure.status === status)?.code ?? 'INVALID';
}

/** Converts any thrown value to the one shape of error responses, and to a page for who has opened the address in a browser. */
export function answerError(error: Boom | Failure, request: Request, h: ResponseToolkit, parts: ErrorParts) {
	const answer = errorAnswer(error, request, parts);
	if (isFailure(error) && wantsPage(request, parts.basePath)) return failurePage(h, error, request, parts.basePath);
	const response = h.response(answer).code(answer.statusCode);
	if (isFailure(error)) {
		for (const [name, value] of Object.entries(error.headers)) response.header(name, value);
		if (error.retryAfter !== undefined) response.header('retry-after', String(Math.ceil(error.retryAfter)));
	}
	return response;
}
