import type { Conversion } from './conversionState.js';

/** An error, with a line for each file that it is about. */
export interface ConversionProblem {
	message: string;
	lines: readonly string[];
}

/** The conversions of one dialog, as far as they depend on what was done in it. */
export interface ConversionsState {
	started: readonly Conversion[];
	/** The ids of those that were cancelled here. */
	cancelled: ReadonlySet<string>;
	isStarting: boolean;
	startProblem: ConversionProblem | undefined;
	cancelProblem: ConversionProblem | undefined;
}

export const noConversions: ConversionsState = {
	started: [],
	cancelled: new Set(),
	isStarting: false,
	startProblem: undefined,
	cancelProblem: undefined,
};

export interface StartResult {
	conversions: readonly Conversion[];
	/** Why some or all of them were not started. */
	problem: ConversionProblem | undefined;
}

export type ConversionsAction =
	| { type: 'starting' }
	| ({ type: 'started' } & StartResult)
	/** Starting failed by an error of the page. */
	| { type: 'notStarted' }
	| { type: 'cancelling'; ids: readonly string[] }
	| { type: 'notCancelled'; ids: readonly string[]; problem: ConversionProblem };

export function reduceConversions(state: ConversionsState, action: ConversionsAction): ConversionsState {
	switch (action.type) {
		case 'starting':
			return { ...state, isStarting: true, startProblem: undefined };
		case 'started':
			return { ...state, isStarting: false, started: action.conversions, startProblem: action.problem };
		case 'notStarted':
			return { ...state, isStarting: false };
		case 'cancelling':
			return { ...state, cancelled: new Set([...state.cancelled, ...action.ids]), cancelProblem: undefined };
		case 'notCancelled': {
			// They are still running, as far as is known.
			const cancelled = [...state.cancelled].filter((id) => !action.ids.includes(id));
			return { ...state, cancelled: new Set(cancelled), cancelProblem: action.problem };
		}
	}
}
