import type { Transport, Upload, UploadedFile, UploadListener, UploadWait } from '../../../api/uploads/upload.js';
import type { UploadQueueAction } from '../uploadQueue.js';
import type { SignInWait } from './waitForSignIn.js';

export interface AttemptOptions {
	dispatch: (action: UploadQueueAction) => void;
	/** Resolves once a user is signed in, to whether it had to wait for that. */
	waitForSignIn: (wait: SignInWait) => Promise<boolean>;
}

const progressIntervalMs = 100;

/** The upload of one file. It dispatches nothing until it is shown. */
export class UploadAttempt {
	/** Rejects with the error of the transport. */
	outcome: Promise<void> = Promise.resolve();
	result: UploadedFile | undefined;
	#isShown = false;
	#hasEnded = false;
	#dispatchedAt = Number.NEGATIVE_INFINITY;
	#uploadedSize = 0;
	#wait: UploadWait | undefined;
	#onSent: (() => void) | undefined;

	constructor(
		readonly id: number,
		readonly upload: Upload,
		private readonly options: AttemptOptions,
		private readonly now: () => number,
	) {}

	start(transport: Transport, signal: AbortSignal): void {
		const listener: UploadListener = {
			onProgress: (uploadedSize) => !signal.aborted && this.#progressed(uploadedSize),
			onOffset: (uploadedSize) => !signal.aborted && this.#resumed(uploadedSize),
			onWait: (reason) => !signal.aborted && this.#waits(reason),
			waitForSignIn: (waitSignal, maxAgeMs = 0) => this.#waitForSignIn(waitSignal, maxAgeMs),
		};
		this.outcome = this.#run(transport(this.upload, listener, signal));
		// The run awaits it later; until then a failure would count as an unhandled rejection.
		this.outcome.catch(() => undefined);
	}

	/** Shows it as the file that is being uploaded, unless it has ended already. */
	show(): void {
		if (this.#hasEnded) return;
		this.#isShown = true;
		this.options.dispatch({ type: 'itemStarted', id: this.id, at: this.now() });
		if (this.#uploadedSize > 0) this.#resumed(this.#uploadedSize);
		const reason = this.#wait;
		if (reason) this.options.dispatch({ type: 'itemWaits', id: this.id, reason });
	}

	/** Calls back when all bytes are sent. */
	onSent(callback: () => void): void {
		this.#onSent = callback;
	}

	async #run(result: Promise<UploadedFile>): Promise<void> {
		try {
			this.result = await result;
		} finally {
			this.#hasEnded = true;
		}
	}

	async #waitForSignIn(signal: AbortSignal, maxAgeMs: number): Promise<boolean> {
		const { username } = this.upload;
		const onWait = () => this.#waits('signIn');
		const hasWaited = await this.options.waitForSignIn({ username, maxAgeMs, onWait, signal });
		if (hasWaited) this.#waits(undefined);
		return hasWaited;
	}

	#progressed(uploadedSize: number): void {
		const isSent = uploadedSize >= this.upload.file.size;
		const wasSent = this.#uploadedSize >= this.upload.file.size;
		this.#uploadedSize = uploadedSize;
		if (isSent) this.#onSent?.();
		if (!this.#isShown || (isSent ? wasSent : this.now() - this.#dispatchedAt < progressIntervalMs)) return;
		this.#dispatchedAt = this.now();
		this.options.dispatch({ type: 'progressed', id: this.id, uploadedSize, at: this.#dispatchedAt });
	}

	#resumed(uploadedSize: number): void {
		this.#uploadedSize = uploadedSize;
		if (this.#isShown) this.options.dispatch({ type: 'itemResumed', id: this.id, uploadedSize, at: this.now() });
	}

	#waits(reason: UploadWait | undefined): void {
		if (this.#isShown && reason !== this.#wait) this.options.dispatch({ type: 'itemWaits', id: this.id, reason });
		this.#wait = reason;
	}
}
