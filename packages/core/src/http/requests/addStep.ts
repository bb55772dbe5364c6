import type { Request, Server } from '@hapi/hapi';

/** Points of a request's lifecycle, as hapi names them: before it is routed, and before its handler. */
type Point = 'onRequest' | 'onPreHandler';

/** What is done there. It refuses the request by throwing. */
type Step = (request: Request) => void;

const stepsOf = new WeakMap<Server, Map<Point, Step[]>>();

/**
 * Runs `step` at this point of each request, after those that were added before it. All of a point share one extension
 * of hapi, which makes five promises for each.
 */
export function addStep(server: Server, point: Point, step: Step): void {
	const points = stepsOf.get(server) ?? new Map<Point, Step[]>();
	stepsOf.set(server, points);
	const steps = points.get(point);
	if (steps !== undefined) {
		steps.push(step);
		return;
	}
	const all = [step];
	points.set(point, all);
	server.ext(point, (request, h) => {
		for (const each of all) each(request);
		return h.continue;
	});
}
