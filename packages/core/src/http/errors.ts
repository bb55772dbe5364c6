import { type Boom, isBoom } from '@hapi/boom';
import type { Request, ResponseToolkit } from '@hapi/hapi';
import { type Failure, failures, isFailure } from '@stowage/rules';
import type { Log } from '../log.js';

export interface ErrorAnswer {
	statusCode: number;
	code: string;
	error: string;
	message: string;
	requestId?: string;
}

/** Sentences for what hapi refuses by itself. */
const ownSentences: Record<number, string> = {
	404: 'There is nothing here.',
	405: 'This method is not allowed here.',
	400: 'The request is not valid.',
};

/** The JSON of an error. What nobody expected is a 500 with a request id; its stack goes to the log and nowhere else. */
export function errorAnswer(error: Error, request: Request, log: Log): ErrorAnswer {
	if (isFailure(error)) {
		if (error.status >= 500) log.warn({ err: error, method: request.method, path: request.route.path }, 'refused');
		return { statusCode: error.status, code: error.code, error: error.message, message: error.message };
	}
	const status = isBoom(error) ? error.output.statusCode : 500;
	if (status < 500) {
		const message = ownSentences[status] ?? error.message;
		return { statusCode: status, code: codeOfStatus(status), error: message, message };
	}
	log.error(
		{ err: error, requestId: request.info.id, method: request.method, path: request.route.path },
		'unexpected error',
	);
	const message = 'Something went wrong on the server.';
	return { statusCode: 500, code: 'INTERNAL', error: message, message, requestId: request.info.id };
}

function codeOfStatus(status: number): string {
	return Object.values(failures).find((failure) => failure.status === status)?.code ?? 'INVALID';
}

/** Turns whatever was thrown into the one shape of error answers. */
export function answerError(error: Boom | Failure, request: Request, h: ResponseToolkit, log: Log) {
	const answer = errorAnswer(error, request, log);
	const response = h.response(answer).code(answer.statusCode);
	if (isFailure(error)) {
		for (const [name, value] of Object.entries(error.headers)) response.header(name, value);
		if (error.retryAfter !== undefined) response.header('retry-after', String(Math.ceil(error.retryAfter)));
	}
	return response;
}
