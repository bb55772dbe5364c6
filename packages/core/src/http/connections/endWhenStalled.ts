import type { ServerResponse } from 'node:http';

/** A client that reads nothing for this long is disconnected; a paused download continues with a range. */
const stallMs = 5 * 60_000;

/** Ends the connection when the client reads nothing for a long time. To be called once per response. */
export function endWhenStalled(response: ServerResponse): void {
	response.setTimeout(stallMs, () => response.destroy());
}
