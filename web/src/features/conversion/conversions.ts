import type { Entry } from '@stowage/rules';
import type { Cancellation, Conversion } from './conversionState.js';

/** An error, with a line for each file that it is about. */
export interface ConversionProblem {
	message: string;
	lines: readonly string[];
	/** What to do about it. */
	hint?: string;
}

/** The conversions of one dialog, as far as they depend on what was done in it. */
export interface ConversionsState {
	started: readonly Conversion[];
	/** Those that could not be started, as far as is known. */
	notStarted: readonly Entry[];
	/** By their ids. */
	cancellations: ReadonlyMap<string, Cancellation>;
	isStarting: boolean;
	/** The dialog is closed: nobody sees what is shown in it. */
	isLeft: boolean;
	startProblem: ConversionProblem | undefined;
	cancelProblem: ConversionProblem | undefined;
}

export const noConversions: ConversionsState = {
	started: [],
	notStarted: [],
	cancellations: new Map(),
	isStarting: false,
	isLeft: false,
	startProblem: undefined,
	cancelProblem: undefined,
};

export interface StartResult {
	conversions: readonly Conversion[];
	notStarted: readonly Entry[];
	/** Why some or all of them were not started. */
	problem: ConversionProblem | undefined;
}

export type ConversionsAction =
	| { type: 'starting' }
	| ({ type: 'started' } & StartResult)
	/** Starting failed by an error of the page. */
	| { type: 'startFailed' }
	| { type: 'cancelling'; ids: readonly string[] }
	| { type: 'cancelled'; id: string }
	| { type: 'notCancelled'; ids: readonly string[]; problem: ConversionProblem }
	| { type: 'entered' }
	| { type: 'left' };

export function reduceConversions(state: ConversionsState, action: ConversionsAction): ConversionsState {
	switch (action.type) {
		case 'starting':
			return { ...state, isStarting: true, startProblem: undefined };
		case 'started': {
			const { conversions, notStarted, problem } = action;
			const started = [...state.started, ...conversions];
			return { ...state, isStarting: false, started, notStarted, startProblem: problem };
		}
		case 'startFailed':
			return { ...state, isStarting: false };
		case 'cancelling':
			return { ...state, cancellations: withAll(state.cancellations, action.ids, 'asked'), cancelProblem: undefined };
		case 'cancelled':
			return { ...state, cancellations: withAll(state.cancellations, [action.id], 'answered') };
		case 'notCancelled': {
			// They are still running, as far as is known.
			const cancellations = new Map([...state.cancellations].filter(([id]) => !action.ids.includes(id)));
			return { ...state, cancellations, cancelProblem: action.problem };
		}
		case 'entered':
		case 'left': {
			const isLeft = action.type === 'left';
			return state.isLeft === isLeft ? state : { ...state, isLeft };
		}
	}
}

function withAll(
	before: ConversionsState['cancellations'],
	ids: readonly string[],
	cancellation: Cancellation,
): ConversionsState['cancellations'] {
	return new Map([...before, ...ids.map((id) => [id, cancellation] as const)]);
}
