import type { Transport, Upload, UploadedFile, UploadListener, UploadWait } from '../../../api/uploads/uploads.js';
import type { UploadQueueAction } from '../uploadQueue.js';

export interface AttemptOptions {
	dispatch: (action: UploadQueueAction) => void;
	/** Resolves when somebody is signed in; calls back when it has to wait for that. */
	signedIn: (onWait: () => void, signal: AbortSignal) => Promise<void>;
}

const progressMilliseconds = 100;

/** One file on its way. Until it is shown nobody hears of it. */
export class UploadAttempt {
	/** Rejects with what the transport threw. */
	outcome: Promise<void> = Promise.resolve();
	result: UploadedFile | undefined;
	#isShown = false;
	#hasEnded = false;
	#shownAt = Number.NEGATIVE_INFINITY;
	#uploadedSize = 0;
	#wait: UploadWait | undefined;
	#onSent: (() => void) | undefined;

	constructor(
		readonly id: number,
		readonly upload: Upload,
		private readonly options: AttemptOptions,
		private readonly now: () => number,
	) {}

	begin(transport: Transport, signal: AbortSignal): void {
		const listener: UploadListener = {
			onProgress: (uploadedSize) => !signal.aborted && this.#progressed(uploadedSize),
			onOffset: (uploadedSize) => !signal.aborted && this.#resumed(uploadedSize),
			onWait: (reason) => !signal.aborted && this.#waits(reason),
			signedIn: (whileSignal) => this.options.signedIn(() => this.#waits('signIn'), whileSignal),
		};
		this.outcome = this.#carry(transport(this.upload, listener, signal));
		// It is looked at when its turn comes.
		this.outcome.catch(() => undefined);
	}

	/** Its turn has come. What has ended already is never shown as on its way. */
	show(): void {
		if (this.#hasEnded) return;
		this.#isShown = true;
		this.options.dispatch({ type: 'itemStarted', id: this.id, at: this.now() });
		if (this.#uploadedSize > 0) this.#resumed(this.#uploadedSize);
		const reason = this.#wait;
		if (reason) this.options.dispatch({ type: 'itemWaits', id: this.id, reason });
	}

	/** Calls back when all bytes are sent. */
	whenSent(onSent: () => void): void {
		this.#onSent = onSent;
	}

	async #carry(result: Promise<UploadedFile>): Promise<void> {
		try {
			this.result = await result;
		} finally {
			this.#hasEnded = true;
		}
	}

	#progressed(uploadedSize: number): void {
		const isSent = uploadedSize >= this.upload.file.size;
		const wasSent = this.#uploadedSize >= this.upload.file.size;
		this.#uploadedSize = uploadedSize;
		if (isSent) this.#onSent?.();
		if (!this.#isShown || (isSent ? wasSent : this.now() - this.#shownAt < progressMilliseconds)) return;
		this.#shownAt = this.now();
		this.options.dispatch({ type: 'progressed', id: this.id, uploadedSize, at: this.#shownAt });
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
