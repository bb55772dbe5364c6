import { type Area, type Entry, isFailure, shownName } from '@stowage/rules';
import { UnexplainedFailure } from '../../api/client/client.js';
import { newIdempotencyKey } from '../../api/client/idempotency.js';
import { isUnanswered } from '../../api/client/retries.js';
import { type ConversionRequest, canConvert, cancelConversion, startConversion } from '../../api/jobs/conversions.js';
import { type Notice, reasonLines } from '../../ui/notifications/notifications.js';
import { type Conversion, type ConversionChoice, conversionRequest, newConversion } from './conversionState.js';
import {
	type ConversionProblem,
	type ConversionsAction,
	type ConversionsState,
	noConversions,
	reduceConversions,
	type StartResult,
} from './conversions.js';
import { conversionMessages as messages } from './messages.js';

/** Where a run tells what happens once its dialog is left. */
export interface Outside {
	notify(notice: Notice): void;
	/** Follows conversions until they have ended. */
	follow(ids: readonly string[]): void;
}

/**
 * Starts and cancels the conversions of one dialog. It outlives the dialog: what fails after that is told by a notice,
 * and what was started is followed.
 */
export class ConversionRun {
	readonly #area: Area;
	readonly #videos: readonly Entry[];
	readonly #outside: Outside;
	readonly #listeners = new Set<() => void>();
	#state = noConversions;
	#choice: ConversionChoice | undefined;
	readonly #keys: StartKeys = new Map();
	/** Aborted when no further one is to be started. */
	#starting = new AbortController();

	constructor(area: Area, videos: readonly Entry[], outside: Outside) {
		this.#area = area;
		this.#videos = videos;
		this.#outside = outside;
	}

	readonly state = (): ConversionsState => this.#state;

	readonly subscribe = (listener: () => void): (() => void) => {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	};

	/** Resolves to whether the setup is over: some were started, or the dialog was left meanwhile. */
	start(choice: ConversionChoice): Promise<boolean> {
		this.#choice = choice;
		return this.#start(this.#videos, choice);
	}

	/** Tries those again that could not be started. */
	async startOthers(): Promise<void> {
		if (this.#choice) await this.#start(this.#state.notStarted, this.#choice);
	}

	/** Ends these, and starts none any more. */
	async cancel(ids: readonly string[]): Promise<void> {
		this.#starting.abort();
		this.#dispatch({ type: 'cancelling', ids });
		const failed: string[] = [];
		const lines = new Set<string>();
		const cancel = async (id: string) => {
			try {
				await cancelConversion(id);
				this.#dispatch({ type: 'cancelled', id });
			} catch (error) {
				failed.push(id);
				lines.add(shownName(error instanceof Error ? error.message : String(error)));
			}
		};
		await Promise.all(ids.map(cancel));
		if (failed.length === 0) return;
		const problem = { message: messages.cancelFailed, lines: [...lines] };
		this.#dispatch({ type: 'notCancelled', ids: failed, problem });
		this.#tellOutside(problem);
	}

	/** The dialog is on screen. */
	enter(): void {
		this.#dispatch({ type: 'entered' });
	}

	/** The dialog is closed, and these have not ended by the server's last word. */
	leave(ids: readonly string[]): void {
		if (this.#state.isLeft) return;
		this.#dispatch({ type: 'left' });
		if (ids.length > 0) this.#outside.follow(ids);
	}

	async #start(videos: readonly Entry[], choice: ConversionChoice): Promise<boolean> {
		this.#starting = new AbortController();
		const { signal } = this.#starting;
		this.#dispatch({ type: 'starting' });
		let result: StartResult;
		try {
			result = await startAll(this.#area, videos, choice, { signal, keys: this.#keys });
		} catch (error) {
			this.#dispatch({ type: 'startFailed' });
			throw error;
		}
		this.#dispatch({ type: 'started', ...result });
		const ids = result.conversions.map(({ id }) => id);
		if (this.#state.isLeft && ids.length > 0) this.#outside.follow(ids);
		if (result.problem) this.#tellOutside(result.problem);
		// Those that the server had begun to queue when they were to end.
		if (signal.aborted && ids.length > 0) await this.cancel(ids);
		return this.#state.isLeft || this.#state.started.length > 0;
	}

	#tellOutside({ message, lines, hint }: ConversionProblem): void {
		if (!this.#state.isLeft) return;
		const detail = [...(lines.length > 0 ? [reasonLines(lines)] : []), ...(hint === undefined ? [] : [hint])];
		this.#outside.notify({ intent: 'danger', message, ...(detail.length > 0 && { detail: detail.join('\n') }) });
	}

	#dispatch(action: ConversionsAction): void {
		const before = this.#state;
		this.#state = reduceConversions(before, action);
		if (this.#state !== before) for (const listener of this.#listeners) listener();
	}
}

/** The idempotency keys of those that could not be started, by their requests: it is the same start that is tried again. */
type StartKeys = Map<string, string>;

/** Starts one after another, in the order of the list, until the signal is aborted. */
async function startAll(
	area: Area,
	videos: readonly Entry[],
	choice: ConversionChoice,
	{ signal, keys }: { signal: AbortSignal; keys: StartKeys },
): Promise<StartResult> {
	const none = (message: string, lines: readonly string[] = []): StartResult => ({
		conversions: [],
		notStarted: videos,
		problem: { message, lines },
	});
	if (videos.length === 0) return none(messages.noVideos);
	try {
		if (!(await canConvert())) return none(messages.unavailable);
	} catch (error) {
		return none(messages.startFailed, [reasonOf(error) ?? messages.notStarted]);
	}
	const conversions: Conversion[] = [];
	const notStarted: Entry[] = [];
	const lines: string[] = [];
	/** The others are not sent then: to find that there is no server takes each as long. */
	let lost: unknown;
	for (const video of videos) {
		if (signal.aborted) break;
		try {
			if (lost) throw lost;
			const id = await startOne(conversionRequest(area, video, choice), keys);
			conversions.push(newConversion(id, video, choice.deletesOriginal));
		} catch (error) {
			notStarted.push(video);
			lines.push(`${shownName(video.name)}: ${shownName(reasonOf(error) ?? messages.notStarted)}`);
			if (isUnanswered(error)) lost = error;
		}
	}
	const hint = lost ? { hint: messages.mayBeQueued } : {};
	const problem = lines.length > 0 ? { message: messages.someNotStarted, lines, ...hint } : undefined;
	return { conversions, notStarted, problem };
}

/** Starts one. Until that has succeeded, its next start is the same one. */
async function startOne(request: ConversionRequest, keys: StartKeys): Promise<string> {
	const name = JSON.stringify(request);
	const key = keys.get(name) ?? newIdempotencyKey();
	// A refusal may be of an attempt only, such as for its time, while one before has started it.
	keys.set(name, key);
	const id = await startConversion(request, key);
	keys.delete(name);
	return id;
}

/** The server's sentence, if it has one. */
function reasonOf(error: unknown): string | undefined {
	return isFailure(error) && !(error instanceof UnexplainedFailure) ? error.message : undefined;
}
