import type { Request } from '@hapi/hapi';
import { Failure } from '@stowage/rules';

const methods = ['get', 'post', 'put', 'patch', 'delete', 'options'] as const;

/** The refusal of what no route takes: 405 with `Allow` where other methods are answered, 404 elsewhere. */
export function notHere({ server, path }: Request): Failure {
	const allowed = methods.filter((method) => {
		const found = server.match(method, path);
		return found !== null && found.method !== '*';
	});
	if (allowed.length === 0) return new Failure('notFound', 'There is nothing here.');
	// A HEAD is answered wherever a GET is.
	const names = allowed.flatMap((method) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]));
	return new Failure('methodNotAllowed', 'This method is not allowed here.', { headers: { allow: names.join(', ') } });
}
