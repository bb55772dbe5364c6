import { type Area, type Entry, isFailure } from '@stowage/rules';
import { useQueries } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { UnexplainedFailure } from '../../api/client/client.js';
import { canConvert, cancelConversion, fetchConversion, startConversion } from '../../api/jobs/conversions.js';
import { isActive } from '../../api/jobs/jobs.js';
import { queryKeys } from '../../api/queryKeys.js';
import {
	type Conversion,
	type ConversionChoice,
	conversionRequest,
	newConversion,
	type OverallState,
	overallState,
	withStatus,
} from './conversionState.js';
import { conversionMessages as messages } from './messages.js';

/** The polling interval of a conversion's status (spec, section 9). */
const pollMs = 2000;

/** An error, with a line for each file that it is about. */
export interface ConversionProblem {
	message: string;
	lines: readonly string[];
}

export interface Conversions {
	state: OverallState;
	conversions: readonly Conversion[];
	isStarting: boolean;
	problems: readonly ConversionProblem[];
	start: (choice: ConversionChoice) => Promise<void>;
	/** Ends those that wait or run. */
	cancel: () => Promise<void>;
}

/** Starts the conversions of these videos and polls them while the dialog is open. `onConverted` is called with each new file. */
export function useConversions(
	area: Area,
	videos: readonly Entry[],
	onConverted: (outputPaths: readonly string[]) => void,
): Conversions {
	const [started, setStarted] = useState<readonly Conversion[]>([]);
	const [cancelled, setCancelled] = useState<ReadonlySet<string>>(new Set());
	const [isStarting, setStarting] = useState(false);
	const [startProblem, setStartProblem] = useState<ConversionProblem>();
	const [cancelProblem, setCancelProblem] = useState<ConversionProblem>();

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
	const conversions = started.map((conversion, index) => {
		const { data, error } = polls[index] ?? {};
		if (isFailure(error, 'notFound')) return { ...conversion, status: 'failed' as const, error: messages.unknown };
		return withStatus(conversion, data, cancelled.has(conversion.id));
	});

	useConverted(conversions, onConverted);

	return {
		state: overallState(conversions),
		conversions,
		isStarting,
		problems: [startProblem, cancelProblem].filter((problem) => problem !== undefined),
		async start(choice) {
			setStarting(true);
			setStartProblem(undefined);
			try {
				const { conversions: next, problem: found } = await startAll(area, videos, choice);
				setStarted(next);
				setStartProblem(found);
			} finally {
				setStarting(false);
			}
		},
		async cancel() {
			const ids = conversions.filter(isActive).map(({ id }) => id);
			setCancelled((before) => new Set([...before, ...ids]));
			setCancelProblem(undefined);
			const outcomes = await Promise.allSettled(ids.map((id) => cancelConversion(id)));
			const failed = new Set(ids.filter((_, index) => outcomes[index]?.status === 'rejected'));
			if (failed.size === 0) return;
			// They are still running, as far as is known.
			setCancelled((before) => new Set([...before].filter((id) => !failed.has(id))));
			const lines = outcomes.flatMap((outcome) =>
				outcome.status === 'rejected' ? [String(outcome.reason.message)] : [],
			);
			setCancelProblem({ message: messages.cancelFailed, lines: [...new Set(lines)] });
		},
	};
}

/** Starts one after another, in the order of the list. */
async function startAll(
	area: Area,
	videos: readonly Entry[],
	choice: ConversionChoice,
): Promise<{ conversions: readonly Conversion[]; problem: ConversionProblem | undefined }> {
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

function useConverted(conversions: readonly Conversion[], onConverted: (outputPaths: readonly string[]) => void): void {
	const outputs = outputPaths(conversions);
	const latest = useRef(onConverted);
	useEffect(() => {
		latest.current = onConverted;
	});
	const count = outputs.length;
	const list = useRef(outputs);
	useEffect(() => {
		list.current = outputs;
	});
	useEffect(() => {
		if (count > 0) latest.current(list.current);
	}, [count]);
}

/** The new files. */
export function outputPaths(conversions: readonly Conversion[]): string[] {
	return conversions.flatMap(({ status, outputPath }) =>
		status === 'completed' && outputPath !== null ? [outputPath] : [],
	);
}
