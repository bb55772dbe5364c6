import { type Area, type Entry, isFailure } from '@stowage/rules';
import { useQueries, useQueryClient } from '@tanstack/react-query';
import { useEffect, useReducer, useState } from 'react';
import { UnexplainedFailure } from '../../api/client/client.js';
import { canConvert, cancelConversion, fetchConversion, startConversion } from '../../api/jobs/conversions.js';
import { isActive } from '../../api/jobs/jobs.js';
import { queryKeys } from '../../api/queryKeys.js';
import { signedInAs } from '../../api/session/sessionQuery.js';
import { useLatest } from '../../ui/useLatest.js';
import {
	type Conversion,
	type ConversionChoice,
	conversionRequest,
	newConversion,
	type OverallState,
	outputPaths,
	overallState,
	withStatus,
} from './conversionState.js';
import { type ConversionProblem, noConversions, reduceConversions, type StartResult } from './conversions.js';
import { conversionMessages as messages } from './messages.js';

/** The polling interval of a conversion's status (spec, section 9). */
const pollMs = 2000;

export interface Conversions {
	state: OverallState;
	conversions: readonly Conversion[];
	isStarting: boolean;
	/** Who was signed in when the dialog was opened. */
	username: string | null | undefined;
	problems: readonly ConversionProblem[];
	/** Resolves to whether any was started. */
	start: (choice: ConversionChoice) => Promise<boolean>;
	/** Ends those that wait or run. */
	cancel: () => Promise<void>;
}

/** Starts the conversions of these videos and polls them while the dialog is open. `onConverted` is called with each new file. */
export function useConversions(
	area: Area,
	videos: readonly Entry[],
	onConverted: (outputPaths: readonly string[]) => void,
): Conversions {
	const [{ started, cancelled, isStarting, startProblem, cancelProblem }, dispatch] = useReducer(
		reduceConversions,
		noConversions,
	);
	const queryClient = useQueryClient();
	const [username] = useState(() => signedInAs(queryClient));
	const conversions = useStatuses(started, cancelled);
	useConverted(outputPaths(conversions), onConverted);

	return {
		state: overallState(conversions),
		conversions,
		isStarting,
		username,
		problems: [startProblem, cancelProblem].filter((problem) => problem !== undefined),
		async start(choice) {
			dispatch({ type: 'starting' });
			try {
				const result = await startAll(area, videos, choice);
				dispatch({ type: 'started', ...result });
				return result.conversions.length > 0;
			} catch (error) {
				dispatch({ type: 'notStarted' });
				throw error;
			}
		},
		async cancel() {
			const ids = conversions.filter(isActive).map(({ id }) => id);
			dispatch({ type: 'cancelling', ids });
			const outcomes = await Promise.allSettled(ids.map((id) => cancelConversion(id)));
			const failed = ids.filter((_, index) => outcomes[index]?.status === 'rejected');
			if (failed.length === 0) return;
			const lines = outcomes.flatMap((outcome) =>
				outcome.status === 'rejected' ? [String(outcome.reason.message)] : [],
			);
			const problem = { message: messages.cancelFailed, lines: [...new Set(lines)] };
			dispatch({ type: 'notCancelled', ids: failed, problem });
		},
	};
}

/** The conversions with the states that the server has reported last. */
function useStatuses(started: readonly Conversion[], cancelled: ReadonlySet<string>): Conversion[] {
	const polls = useQueries({
		queries: started.map(({ id }) => ({
			queryKey: queryKeys.conversion(id),
			queryFn: ({ signal }: { signal: AbortSignal }) => fetchConversion(id, signal),
			// A hidden tab polls too, so that the folder is refreshed when it is shown again.
			refetchIntervalInBackground: true,
			refetchInterval: (query: { state: { data?: Pick<Conversion, 'status'> | undefined; error: Error | null } }) => {
				const { data, error } = query.state;
				return isFailure(error, 'notFound') || (data && !isActive(data)) ? (false as const) : pollMs;
			},
			gcTime: 0,
			retry: false,
		})),
	});
	return started.map((conversion, index) => {
		const { data, error } = polls[index] ?? {};
		if (isFailure(error, 'notFound')) return { ...conversion, status: 'failed' as const, error: messages.unknown };
		return withStatus(conversion, data, cancelled.has(conversion.id));
	});
}

/** Calls back when there is a further new file. */
function useConverted(outputs: readonly string[], onConverted: (outputPaths: readonly string[]) => void): void {
	const latest = useLatest({ outputs, onConverted });
	const count = outputs.length;
	useEffect(() => {
		if (count > 0) latest.current.onConverted(latest.current.outputs);
	}, [count]);
}

/** Starts one after another, in the order of the list. */
async function startAll(area: Area, videos: readonly Entry[], choice: ConversionChoice): Promise<StartResult> {
	const stop = (message: string, lines: readonly string[] = []) => ({ conversions: [], problem: { message, lines } });
	if (videos.length === 0) return stop(messages.noVideos);
	try {
		if (!(await canConvert())) return stop(messages.unavailable);
	} catch (error) {
		return stop(messages.startFailed, [reasonOf(error) ?? messages.notStarted]);
	}
	const conversions: Conversion[] = [];
	const lines: string[] = [];
	for (const video of videos) {
		try {
			const id = await startConversion(conversionRequest(area, video, choice));
			conversions.push(newConversion(id, video, choice.deletesOriginal));
		} catch (error) {
			lines.push(`${video.name}: ${reasonOf(error) ?? messages.notStarted}`);
		}
	}
	return { conversions, problem: lines.length > 0 ? { message: messages.someNotStarted, lines } : undefined };
}

/** The server's sentence, if it has one. */
function reasonOf(error: unknown): string | undefined {
	return isFailure(error) && !(error instanceof UnexplainedFailure) ? error.message : undefined;
}
