/** uPlot, a file of its own: it is loaded when the first chart of series is shown. */
export { default } from 'uplot';
