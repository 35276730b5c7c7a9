/** Light and dark, screen and paper, 400 to 1280 px and beyond. Colours are told apart by those who see no red or green. */
export const STYLE = `
:root{--bg:#fff;--fg:#1b1f24;--faint:#59636e;--line:#d1d9e0;--card:#f6f8fa;--bad:#b3261e;--bad-bg:#fdecea;--warn:#8a5a00;--warn-bg:#fff4d6;--good:#0b6b3a;--good-bg:#e2f5ea;--link:#0a58ca;--run:#3b82c4;--wait:#d9a400;--end:#9aa4af;--stuck:#c8362b;--cap:#7b4fc9;--mark:#4a5560}
@media (prefers-color-scheme:dark){:root{--bg:#0f1318;--fg:#e3e8ee;--faint:#98a3af;--line:#303943;--card:#181e25;--bad:#ff8a80;--bad-bg:#3a1715;--warn:#f2c14e;--warn-bg:#352a0c;--good:#6fd6a0;--good-bg:#0f2e1f;--link:#79b0ff;--run:#4c94d8;--wait:#d9a936;--end:#5d6875;--stuck:#f0564a;--cap:#a586e8;--mark:#a9b4c0}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--fg);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans",sans-serif}
main{max-width:1120px;margin:0 auto;padding:20px 24px 60px}
h1{font-size:1.35rem;line-height:1.35;margin:.2em 0 .4em;overflow-wrap:anywhere}h2{font-size:1.15rem;margin:0 0 .7em}h3{font-size:1rem;margin:1em 0 .4em;overflow-wrap:anywhere}h4{font-size:.9rem;margin:.8em 0 .2em}
h2 small,h3 small,th small{overflow-wrap:anywhere;font-weight:400;color:var(--faint);font-size:.8rem;margin-left:.7em}
section{margin-top:2rem;border-top:1px solid var(--line);padding-top:1.1rem}
header{padding:14px 18px;border-radius:8px;border-left:6px solid var(--line);background:var(--card)}
header.stall{border-color:var(--bad);background:var(--bad-bg)}header.unexplained{border-color:var(--warn);background:var(--warn-bg)}header.none{border-color:var(--good);background:var(--good-bg)}
.where{margin:0;color:var(--faint);font-size:.9rem;overflow-wrap:anywhere}.note{color:var(--faint);font-size:.85rem;margin:.4em 0;overflow-wrap:anywhere}
code{font:.84em/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace;overflow-wrap:anywhere}
a{color:var(--link);text-decoration:none}a:hover{text-decoration:underline}.cite{font:.82em ui-monospace,Menlo,Consolas,"Liberation Mono",monospace;overflow-wrap:anywhere}
.badge{display:inline-block;font-size:.72rem;font-weight:700;letter-spacing:.04em;text-transform:uppercase;padding:.12em .6em;border-radius:99px;border:1px solid currentColor;vertical-align:.12em}
.badge.proved,.badge.stall{color:var(--bad)}.badge.likely,.badge.possible,.badge.unexplained{color:var(--warn)}.badge.none{color:var(--good)}.badge.besides{color:var(--faint)}
.chain{list-style:none;margin:0;padding:0}.chain li{position:relative;padding:.55em .9em;border:1px solid var(--line);border-left:5px solid var(--stuck);border-radius:6px;background:var(--card);overflow-wrap:anywhere}
.chain li a{color:inherit}.chain li+li{margin-top:1.5em}.chain li+li::before{content:"waits for \\2193";position:absolute;top:-1.55em;left:1.1em;font-size:.78rem;color:var(--faint)}
.chain li.likely,.chain li.possible{border-left-color:var(--wait)}.chain li.open{border-left-style:dashed;border-left-color:var(--end);color:var(--faint)}
svg.chart{display:block;overflow:visible}svg text{font:12px system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans",sans-serif;fill:var(--fg)}svg .strong{font-weight:600}
svg .tick{fill:var(--faint);font-size:11px}svg .grid{stroke:var(--line);stroke-dasharray:2 3}svg .lane{stroke:var(--line)}
svg .gap{fill:var(--wait);fill-opacity:.16;stroke:var(--wait);stroke-dasharray:4 3}svg .gap-words{fill:var(--warn);font-weight:700;font-size:13px}
.span.waiting{fill:var(--wait)}.span.running{fill:var(--run)}.span.ended{fill:var(--end)}.span.stuck{fill:var(--stuck)}.span.capture{fill:var(--cap)}
.mark{fill:var(--mark);stroke:var(--bg);stroke-width:1.5}.mark.bad{fill:var(--stuck)}.repeat{stroke:var(--mark);stroke-width:2}.repeat.bad{stroke:var(--stuck)}
.finding{border:1px solid var(--line);border-radius:8px;padding:.9em 1.1em;margin:0 0 1em;border-left:5px solid var(--end)}.finding.proved{border-left-color:var(--stuck)}.finding.likely,.finding.possible{border-left-color:var(--wait)}
.finding h3{margin-top:0}.says{margin:.3em 0;overflow-wrap:anywhere}.because{padding-left:1.1em;margin:.5em 0}.because code{color:var(--faint)}.finding ol{margin:.2em 0;padding-left:1.4em}.rule{margin:.6em 0 0;font-size:.75rem;color:var(--faint)}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-size:.88rem}th,td{text-align:left;padding:.35em .8em .35em 0;vertical-align:top;border-bottom:1px solid var(--line)}
.views{width:100%}.views th small{display:block;margin:0}.views tr.disagree{background:var(--bad-bg)}.views tr.disagree th:first-child{border-left:4px solid var(--stuck);padding-left:.5em}.views td.running a,.views td.paused a{color:var(--run);font-weight:600}.views td.exited a,.views td.absent a{color:var(--faint);font-weight:600}
.grid2{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,330px),1fr));gap:14px}.card{border:1px solid var(--line);border-radius:8px;padding:.7em 1em;background:var(--card);min-width:0}.card h3{margin:.1em 0 .5em}
.row{display:grid;grid-template-columns:72px 1fr minmax(84px,auto);gap:10px;align-items:center;margin:.3em 0;font-size:.86rem}.row b{text-align:right;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
.spark{width:100%;height:30px;display:block}.spark .area{fill:var(--run);fill-opacity:.22}.spark .edge{fill:none;stroke:var(--run);stroke-width:1.5}.spark.flying .area{fill:var(--cap)}.spark.flying .edge{stroke:var(--cap)}
.meter{display:block}.meter .rail{fill:var(--line);fill-opacity:.6}.meter .outer{fill:var(--run)}.meter.hot .outer{fill:var(--stuck)}.meter .inner{fill:#0006}.meter:has(.inner) .outer{fill-opacity:.65}
.channels{width:100%;table-layout:fixed}.channels th{width:30%;font-weight:400}.channels .bar{width:18%}.channels .count{width:3.2em;text-align:right;font-variant-numeric:tabular-nums}.channels td{overflow-wrap:anywhere}.channels tr.still th code{color:var(--bad);font-weight:700}
details{border:1px solid var(--line);border-radius:6px;margin:.35em 0;background:var(--card)}summary{cursor:pointer;padding:.4em .8em;font-size:.88rem;overflow-wrap:anywhere}details>:not(summary){margin:.3em .8em .6em}details.request{border-left:4px solid var(--stuck)}
.state{color:var(--faint)}.age{color:var(--warn);font-weight:600}.rpc{color:var(--bad);font-weight:600}.frames{padding-left:1.6em;font-size:.86rem}.file{color:var(--faint);font-size:.82rem;overflow-wrap:anywhere}
.events td:first-child{white-space:nowrap;font-variant-numeric:tabular-nums}.events tr.bad td:nth-child(2){color:var(--bad);font-weight:600}.events td:last-child{overflow-wrap:anywhere;min-width:200px}
.piece{border:1px solid var(--line);border-radius:6px;margin:.4em 0;padding:.3em 0;background:var(--card);overflow-x:auto}.line{display:flex;gap:1em;padding:0 .8em;min-width:max-content}.line code{white-space:pre;overflow-wrap:normal}.number{color:var(--faint);font:.78em/1.9 ui-monospace,Menlo,Consolas,monospace;min-width:3.2em;text-align:right;user-select:none;flex:none}
.line.cited{background:var(--warn-bg)}.line:target,h3:target{outline:2px solid var(--link)}.whole{font-size:.86rem;color:var(--faint);margin:.2em 0;overflow-wrap:anywhere}
@media (max-width:640px){svg .tick.odd{display:none}svg text.lane-title{font-size:11px}main{padding:12px 12px 40px}h1{font-size:1.1rem}.channels,.channels tbody{display:block}.channels tr{display:grid;grid-template-columns:1fr auto;gap:.1em .8em}.channels th,.channels td{display:block;width:auto!important;text-align:left!important;border:0;padding:.05em 0}.channels tr{border-bottom:1px solid var(--line);padding:.45em 0}.channels .count{grid-area:1/2}.channels .bar,.channels .count~td{grid-column:1/-1}.line{min-width:0}.line code{white-space:pre-wrap;overflow-wrap:anywhere}}
@media print{:root{--bg:#fff;--fg:#000;--faint:#444;--line:#bbb;--card:#fff;--bad:#9c1c14;--bad-bg:#fff;--warn:#6b4500;--warn-bg:#f3f3f3;--good:#064d29;--good-bg:#fff;--link:#000;--run:#3b82c4;--wait:#d9a400;--end:#9aa4af;--stuck:#c8362b;--cap:#7b4fc9;--mark:#4a5560}*{print-color-adjust:exact;-webkit-print-color-adjust:exact}body{font-size:11px}main{max-width:none;padding:0}.finding,.card,.chain li,.piece{break-inside:avoid}.line{min-width:0}.line code{white-space:pre-wrap;overflow-wrap:anywhere}details::details-content{content-visibility:visible;height:auto}}
`;
